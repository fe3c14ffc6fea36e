"""Sentences that stand around the facts of a procedure."""

from __future__ import annotations

PROSE = (
    (
        "[Read|Go through|Study] this page [once|calmly|completely] before the [first|next] attempt; "
        "[most|many] [mistakes|delays|returns] come from [starting in the middle|skipping a line|working "
        "from memory]."
    ),
    (
        "The [routine|process|sequence] looks [long|fussy|slow] on paper, yet "
        "[practised|experienced|regular] [users|hands|staff] [manage|finish] it between two "
        "[coffees|meetings|deliveries]."
    ),
    (
        "[Substitutes|Stand-ins|Deputies] have the [same|full] [rights|permissions|duties] while the "
        "[usual|regular] contact is [away|ill|on leave|at a trade fair]."
    ),
    (
        "[Photographs|Screenshots|Sketches] of each [stage|screen|hand movement] are [collected|kept|found] "
        "in the {term} album on the [shared drive|portal|tablet at the bench]."
    ),
    (
        "If the [system|portal|terminal] is [down|slow|unreachable], [paper|pencil and paper|the emergency "
        "pad] will do, and the [data|entries|details] are [typed in|transferred|added] [later|afterwards]."
    ),
    (
        "[Comments|Criticisms|Ideas] on the [order|wording|number] of the [steps|stages|checks] are "
        "[welcome|gladly taken] and are [read|sorted|discussed] by {person} [early|late] in {month}."
    ),
    (
        "The [former|old|previous] [way|custom|habit] of [shouting across the hall|sticking notes on "
        "doors|calling a friend in the stores] has [proved|turned out to be] [unreliable|unsafe|untraceable]."
    ),
    (
        "[Two|Several|A few] [offices|buildings|sites] follow a [variant|version|cousin] of this "
        "instruction, mostly because their [doors|lifts|suppliers|opening hours] [differ|are different]."
    ),
    (
        "[Apprentices|Newcomers|Visitors|Interns] may [take part|help|watch] but do not [sign|decide|operate "
        "the lift truck] until the {term} briefing has been [attended|completed|repeated]."
    ),
    (
        "[Keep|Have] the {code} [card|sheet|leaflet] [at hand|nearby|in the pocket]; it [lists|names] the "
        "[abbreviations|colours|signals] that [appear|turn up] on the [labels|lamps|screens]."
    ),
    (
        "[Please|Kindly] do not [improvise|take shortcuts|reuse old labels|skip the second check], even when "
        "the [queue|backlog|pressure] is [long|high|annoying]."
    ),
    (
        "An [unusual|odd|oversized|urgent] case is [talked over|discussed|cleared] with {person} "
        "[first|beforehand], who [knows|remembers] how {team} [handled|solved|dealt with] [something "
        "similar|the last one]."
    ),
    (
        "The [flow chart|drawing|diagram] on the [wall|last page|back cover] [says the same|agrees with this "
        "page] in [pictures|boxes and arrows|symbols] for those who [prefer|like] [looking|that]."
    ),
    (
        "[Noise|Dust|Draught|Glare|Vibration] has [spoiled|disturbed|ruined] more than one "
        "[attempt|run|reading], so [choose|find|wait for] a [quiet|still|shaded] [corner|hour|bench]."
    ),
    (
        "[Complaints|Mishaps|Near misses|Mix-ups] are [entered|recorded|told] without [blame|names|fear]; "
        "the [purpose|point] is to [mend|improve|understand] the [sequence|routine|tool]."
    ),
    (
        "The [checklist|card|sheet] was [shortened|reworked|redrawn] in {year} after {other_team} "
        "[counted|showed|argued] that [half|many|some] of the [boxes|lines|questions] were [never|hardly "
        "ever] [used|read]."
    ),
    (
        "[Remember|Bear in mind|Note] that on some days the [store|counter|loading bay|mail room] "
        "[closes|shuts] [early|at noon] before [public holidays|the summer party|stocktaking]."
    ),
    (
        "[Instruments|Goods|Folders|Samples] that were left [unattended|in the corridor|on the trolley] are "
        "[removed|taken away|locked up] by the [evening|security|cleaning] [round|patrol|crew]."
    ),
    (
        "A [printed|laminated|pocket-size] copy of this page [hangs|lies|is kept] near the "
        "[bench|printer|door|first-aid box] and is [exchanged|replaced] whenever the [text|wording] "
        "[changes|moves on]."
    ),
    (
        "The [term|word|label] {term} on the [screen|form|crate] [means|denotes|stands for] what older "
        "[staff|colleagues|manuals] [call|called] {other_term}; both will be [seen|met|heard] for [some "
        "time|years]."
    ),
    (
        "[Wherever|Whenever] a [signature|stamp|tick] is [asked for|required], a [click|tap] in the "
        "[portal|app] [counts|serves] [as well|just as much], provided the [user|person] was [logged "
        "in|identified] with a [badge|token]."
    ),
    (
        "[Outside|Beyond|After] [office|normal|opening] hours the [porter|duty desk|guard] can [open|unlock] "
        "the [cabinet|hatch|side door], but cannot [advise|decide|lift heavy goods]."
    ),
    (
        "[Trial|Test|Practice] runs are [possible|allowed|encouraged] in the [sandbox|dummy account|training "
        "room], where [nothing|no entry] [reaches|affects] the [real|live] [books|records|stock]."
    ),
    (
        "What [happens|goes on] behind the [scenes|counter] during {subject} is [described|told|explained] "
        "in the {term} manual, which [few|only specialists] [need|will ever open]."
    ),
    (
        "The [legal|formal|historical] [background|basis|reason] is a [directive|contract|ruling] from "
        "{year}, [summarised|quoted|reprinted] under {code} in the [library|archive|legal folder]."
    ),
    (
        "[Left-handed|Tall|Colour-blind|Hard-of-hearing] colleagues [pointed out|showed|reported] that the "
        "[layout|lamp|handle|tone] is [unhelpful|awkward], and a [remedy|better one] is [on order|being "
        "built|under test]."
    ),
    (
        "[Travelling|Mobile|Field] staff [use|work with] the [app|telephone line|tablet version], whose "
        "[screens|menus|fields] [look|are] a little [different|simpler|older]."
    ),
    (
        "[Batteries|Spare fuses|Pens|Labels|Seals] [run out|get lost|disappear] [quickly|often]; whoever "
        "[takes|uses] the last one [orders|fetches|mentions] [more|new ones] [at once|the same day]."
    ),
    (
        "The [hand-over|transfer|passing on] between [shifts|stations|buildings] is the "
        "[weak|critical|delicate] [point|moment], so [speak|talk] to each other and do not [rely on|trust] "
        "[notes|memory|the status lamp] alone."
    ),
    (
        "[Audit|Inspection|Certification] visits in {month} [found|saw|noted] that {subject} is [well "
        "understood|taken seriously|done with care], apart from a few [undated|illegible|unsigned] "
        "[entries|sheets|labels]."
    ),
    (
        "[Never|Do not] [share|lend|write down] the [password|code|token] that [opens|unlocks] the "
        "[cabinet|system|drawer], not even for [a minute|a friend|the head of the department]."
    ),
    (
        "[Sometimes|Now and then|Once in a while] a [request|case|parcel] [comes back|bounces|reappears] "
        "because the [address|reference|name] was [misspelled|outdated|cut off] by the "
        "[printer|form|scanner]."
    ),
    (
        "[Longer|Serious|Repeated] [waits|interruptions|stoppages] are [announced|posted|shown] on the "
        "[status page|screen in the lobby|{term} board] by [noon|the morning|the end of the shift]."
    ),
    (
        "The [tools|aids|gadgets] [mentioned|used|named] here are [bought|stocked|chosen] for "
        "[robustness|simplicity|easy cleaning] and not for [looks|brand|speed]."
    ),
    (
        "[Weather|Season|Humidity|Temperature] plays a [part|role]: in [winter|August|damp weeks] the "
        "[labels|seals|adhesives] [hold|stick|behave] [badly|less well|differently]."
    ),
    (
        "{person} [gives|offers|holds] a [short|practical|hands-on] [demonstration|session|tour] for "
        "[anyone|groups|newcomers] who would [rather|sooner] [see|try] it than [read|study] about it."
    ),
    (
        "[Cancelling|Withdrawing|Stopping] is [easy|possible] as long as the [parcel|order|request] has not "
        "[left|been picked|passed the counter]; [afterwards|later] a [new|reverse] case is [opened|started]."
    ),
    (
        "[Copies|Records|Logs|Old cases] are [anonymised|stripped of names] before they [serve|are used] as "
        "[examples|teaching material|statistics] for {team}."
    ),
    (
        "The [search|index|catalogue] in the portal [finds|lists] this page under [several|different|odd] "
        "[words|names|headings], among them {term} and {other_term}."
    ),
    (
        "[Nobody|No one] is [expected|obliged] to [lift|carry|push] [heavy|bulky|awkward] things alone; "
        "[trolleys|hoists|helpers] are [available|around|a call away]."
    ),
    (
        "[Please|Kindly] [tidy up|clear the bench|wipe the screen] [afterwards|at the end], as the "
        "[next|following] [user|team|shift] [thanks|will thank] you for it and so will the [auditor|cleaner]."
    ),
    (
        "The [sequence|order] may be [changed|varied] where [safety|space|common sense] [demands|suggests] "
        "it, but a [note|remark|line] in the [log|journal] should [say|explain] why."
    ),
    (
        "[Rush|Priority|Express] handling [exists|is possible] for [patients|production stops|customs "
        "deadlines|legal reasons], and [misuse|overuse] of it [spoils|ruins] the [service|goodwill] for "
        "[all|everyone]."
    ),
    (
        "The [language|wording] of the [labels|screens] can be [switched|changed] with the [flag|globe|key] "
        "symbol, though the {term} line [stays|remains] in [English|Swedish|the original]."
    ),
    (
        "[Statistics|Figures|Counts] about {subject} are [gathered|collected] [automatically|in the "
        "background] and [shown|published] [without|free of] [names|personal data] in the [yearly|annual] "
        "[overview|bulletin]."
    ),
    (
        "[Ask|Call|Visit] the [counter|help point|service desk] [early|in good time] if {subject} "
        "[coincides|falls together] with [an audit|stocktaking|a move|the {project} launch]."
    ),
)
