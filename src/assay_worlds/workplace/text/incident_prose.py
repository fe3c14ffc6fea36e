"""Sentences that stand around the facts of an incident."""

from __future__ import annotations

PROSE = (
    (
        "The first [sign|hint|symptom] was a [slow|blank|frozen|flickering] [dashboard|login page|order "
        "form|status board], which [a night guard|an intern|a trainee|a fitter] [took for|mistook for] a "
        "[network hiccup|broken screen|planned test]."
    ),
    (
        "[Alerts|Pages|Alarms] [fired|arrived|sounded] in an [odd|unhelpful|awkward] order, so that the "
        "[later|second|quieter] one [hid|masked|drowned] the [earlier|first|important] one for [a while|some "
        "time]."
    ),
    (
        "[Graphs|Traces|Logs] from the [morning|evening|night] in question are [stored|kept|pinned] in the "
        "{term} folder, [with|without] [comments|annotations|arrows] by {person}."
    ),
    (
        "A [rollback|restart|failover|cold start] was [considered|discussed|proposed] [early|at once], then "
        "[dropped|postponed|rejected] because [nobody|no one present] could [say|predict] what it would do "
        "to [queued|open|half-written] [orders|jobs|records]."
    ),
    (
        "The [chat|call|bridge] [filled|swelled] with [well-meaning|curious|anxious] "
        "[onlookers|colleagues|guests], and it was [decided|agreed] to [open|start] a second "
        "[room|channel|thread] for [questions|bystanders|managers]."
    ),
    (
        "[Backups|Snapshots|Replicas] were [intact|complete|readable], a [fact|relief] that "
        "[calmed|steadied] the [group|callers|room] more than any [speech|plan|coffee]."
    ),
    (
        "[Notices|Messages|Updates] to the outside [went out|were sent] [late|in bursts|unevenly] at first, "
        "until {person} [took|picked up] the [template|keyboard|telephone] and [wrote|sent] one "
        "[regularly|on the half hour]."
    ),
    (
        "In [hindsight|retrospect], the [warning|ticket|remark] that {team} had [left|filed|made] in {month} "
        "[described|foretold|sketched] the [same|very] [weakness|pattern|chain of events]."
    ),
    (
        "The [runbook|manual|wiki page] [assumed|described|showed] an [older|earlier|outdated] "
        "[layout|menu|console], and the [command|flag|switch] it [named|recommended] [no longer existed|did "
        "nothing|printed an error]."
    ),
    (
        "[Monitoring|Probing|Sampling] looked at the [front|public|cheap] side only, where everything "
        "[seemed|appeared|stayed] [green|healthy|quick] thanks to [cached|stale|static] pages."
    ),
    (
        "What [went well|helped|worked] was the [calm|plain|friendly] [tone|language|manner] of the call, "
        "the [shared|common|running] [notes|timeline|document], and the [early|prompt] [decision|choice] to "
        "[wake|call|involve] {other_team}."
    ),
    (
        "What [went badly|hurt|annoyed people] was the [hunt|search|wait] for [passwords|keys|phone "
        "numbers], which [lay|were kept] in a [drawer|safe|vault] that only a [few|handful of] people "
        "[knew|could open]."
    ),
    (
        "[Nobody|No one] is [blamed|at fault|criticised] in this [review|text|report]; the "
        "[question|interest] is how the [system|tooling|process] [allowed|invited|hid] the "
        "[slip|mistake|drift]."
    ),
    (
        "A [temporary|makeshift|quick] [script|filter|cron job] [written|typed] [by hand|on the call|under "
        "pressure] is still [running|in place|active] and [must|should] be [replaced|removed|reviewed] "
        "before [winter|the audit|the next freeze]."
    ),
    (
        "The [vendor's|supplier's|manufacturer's] [hotline|support line|engineer] was "
        "[friendly|polite|reachable] but [could not|was unable to] [see|read|inspect] the "
        "[traces|dumps|counters] without a [signed|written] [consent|form|agreement]."
    ),
    (
        "[Staff|Guests|Crews] in {office} [noticed|saw|felt] [little|nothing|some of it], since their "
        "[lines|sessions|jobs] [took|used|followed] a [different|second|slower] [path|route|gateway]."
    ),
    (
        "A [dry run|rehearsal|table-top exercise] of the [same|identical|whole] "
        "[situation|scenario|sequence] is [planned|scheduled|foreseen] for {month}, with "
        "[new|fresh|unprepared] [participants|faces|hands]."
    ),
    (
        "During {subject}, the [clock|timestamp|time zone] [differences|offsets|shifts] between "
        "[machines|logs|tools] [cost|ate up] [attention|patience], and the [timeline|chronology] was "
        "[rebuilt|reconstructed] [twice|afterwards]."
    ),
    (
        "[Records|Notes|Minutes] of the call were [taken|kept|typed] by {other_person}, whose "
        "[typing|handwriting|patience] was [praised|mentioned|noted] [more than once|by all|at the end]."
    ),
    (
        "The [change|update|switch] that [preceded|came before] the [trouble|failure|noise] had been "
        "[reviewed|tested|announced], though only for a [smaller|quieter|younger] [copy|system|data set]."
    ),
    (
        "[Traffic|Load|Demand] was [ordinary|unremarkable|low] for a [weekday|holiday|Friday], which is why "
        "the [usual|obvious|first] [suspect|theory|explanation] was [soon|quickly] [discarded|ruled "
        "out|dropped]."
    ),
    (
        "The [follow-up|corrective|preventive] [list|work|plan] has been [split|divided|broken up] into "
        "[small|modest|separate] [pieces|tasks|stories], each with a [date|sponsor|reviewer] and a "
        "[link|reference] to {code}."
    ),
    (
        "[Several|Two|Many] [participants|readers|engineers] [asked|wondered] why the [test|staging|shadow] "
        "[environment|system|cluster] had [not|never] [shown|caught|repeated] the [effect|behaviour|symptom]."
    ),
    (
        "A [lesson|point|reminder] for [everyone|all|newcomers]: [say|announce|write] what you are [about to "
        "do|going to change|looking at], then [do it|act], then [say|report] what you [saw|found|did]."
    ),
    (
        "The [noise|stream|flood] of [automatic|duplicate|unrelated] [mails|alerts|tickets] afterwards was "
        "[cleared|sorted|deleted] by a [volunteer|student|script] on the [following|next] [day|morning]."
    ),
    (
        "[Contrary to|Despite|Against] [first|early] [reports|rumours|guesses], no "
        "[readings|records|orders|files] were [lost|damaged|leaked], as the "
        "[comparison|reconciliation|cross-check] with the {term} ledger [showed|proved|confirmed]."
    ),
    (
        "The [escalation|calling|telephone] [list|tree|plan] was [out of date|incomplete|hard to find], and "
        "a [former|retired|transferred] [colleague|engineer] was [woken|called|disturbed] [by mistake|in "
        "vain]."
    ),
    (
        "[Food|Pizza|Coffee|Fruit] was [brought|ordered|fetched] when it became [clear|plain] that the "
        "[repair|search|restore] would [run|stretch] [beyond|past] the [shift|working day|lunch break]."
    ),
    (
        "[Readers|Auditors|Newcomers] [unfamiliar|not familiar] with {term} should [know|note] that it "
        "[sits|stands] between the [edge|gateway|collector] and the [store|queue|ledger], and [fails|breaks] "
        "[quietly|slowly|in odd ways]."
    ),
    (
        "The [same|related|neighbouring] [component|part|module] was [mentioned|involved|named] in an "
        "[earlier|older] [review|report], {code}, whose [actions|recommendations|tasks] were [closed|ticked "
        "off] [too early|without a test|on paper]."
    ),
    (
        "[Access|Rights|Permissions] [granted|given|widened] in the [heat|course|middle] of the "
        "[night|event|repair] have been [withdrawn|removed|narrowed] again, as the [log|journal|list] of "
        "{team} [shows|confirms]."
    ),
    (
        "A [suggestion|proposal|wish] to [buy|build|rent] [spare|second|bigger] [hardware|lines|machines] "
        "was [noted|heard|recorded] but [belongs|goes] to the [budget|architecture|planning] [round|talks], "
        "not [here|into this review]."
    ),
    (
        "Everyone who [joined|helped|stayed|listened in] has been [thanked|credited|given time off]; "
        "[names|details] are [kept|left] in the [channel|thread|guest book] rather than [printed|listed] "
        "here."
    ),
    (
        "The [status|information|public] page [said|claimed|showed] that all was [well|fine|green] for [too "
        "long|a while], because its [text|lamp|entry] is [changed|set|edited] by [hand|a person]."
    ),
    (
        "[Restoring|Replaying|Draining] the [backlog|queue|spool] [afterwards|later] [put|caused] "
        "[more|extra] [strain|load] than [expected|planned], and was [slowed|paced|throttled] on the "
        "[advice|request] of {person}."
    ),
    (
        "[Terminology|Wording] [caused|created] [friction|confusion]: what one [side|group|team] calls "
        "{term} is {other_term} to the [other|rest|network people], and [patience|effort] [went|leaked away] "
        "[there|on that]."
    ),
    (
        "The [vendor|maker|author] of the [library|driver|module] [published|posted|released] a "
        "[note|fix|patch] on the [matter|subject] in {year}, which had [escaped|slipped past] our "
        "[watch|list|reading]."
    ),
    (
        "[Automation|A script|The orchestrator] [did|repeated|tried] [exactly|precisely] what it was "
        "[told|built|asked] to do, only [faster|more often|wider] than [anybody|a human|its author] had "
        "[imagined|intended|foreseen]."
    ),
    (
        "[Next time|In future], the [lead|caller|person in charge] should [speak|ask|decide] less and "
        "[listen|delegate|write] more, a [remark|comment] made [kindly|openly] by {other_person} in the "
        "[retrospective|closing round|debrief]."
    ),
    (
        "[Tests|Checks|Probes] [added|written|deployed] since then [watch|cover|exercise] the "
        "[path|corner|call] that [failed|was dark|nobody looked at], and have [already|since] [caught|shown] "
        "a [minor|harmless|similar] [wobble|fault|slip]."
    ),
    (
        "[Customers|Callers|Partners] were [patient|understanding|blunt] on the [phone|line|forum], and "
        "[some|a few] [offered|sent] [useful|helpful|precise] [screenshots|timings|observations]."
    ),
    (
        "A [diagram|sketch|drawing] of the [dependencies|connections|data flow] as they [really|actually] "
        "[are|run] has been [drawn|made|pinned up] and [differs|departs] from the [official|published|older] "
        "one in [several|awkward] [places|ways]."
    ),
    (
        "[Freezing|Stopping|Holding] all [other|planned|unrelated] [changes|deployments|rollouts] for the "
        "[day|evening|rest of the shift] [proved|was] [wise|right|useful], though {other_team} "
        "[grumbled|objected|had to wait]."
    ),
    (
        "The [review|debrief|meeting] about {subject} was [open|public|held online], "
        "[well|thinly|surprisingly well] attended, and [ended|closed] with a [short|honest|lively] "
        "[discussion|exchange] on [alert fatigue|naming|spare parts|training]."
    ),
    (
        "[Chance|Luck|Habit] [played|had] a [part|role]: {person} [happened|chanced] to be [awake|near the "
        "rack|reading the log] and [recognised|remembered] the [smell|pattern|message] from an [earlier|old] "
        "[case|job]."
    ),
    (
        'The [wording|phrase|sentence] "it cannot be the [cache|clock|cable|firewall]" was '
        "[heard|spoken|written] [three times|often|by several people] and is [now|since] [printed|framed] on "
        "a [mug|poster|T-shirt]."
    ),
)
