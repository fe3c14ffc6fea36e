"""What pages on projects say besides their facts."""

from __future__ import annotations

PROSE = (
    (
        "{subject} [began|was born|was proposed|was sketched] as a [complaint|note|hack-day demo|"
        "suggestion|side remark] by {person} about [double entry|late parcels|unreadable labels|the {term} "
        "queue|scattered spreadsheets], and [grew|drifted|narrowed] from there."
    ),
    (
        "The [steering|working|review|user] group of {subject} [met|quarrelled|agreed|postponed its "
        "decision] on {date} and [asked for|rejected|noted|repeated] [a smaller scope|fresh estimates|site "
        "visits|the {term} survey|a risk list]."
    ),
    (
        "[Scope|Wording|Planning|Testing] of the {term} [module|package|interface|report] within {subject} "
        "was [moved|left|returned] to {team}, [after|because|once] {other_team} [ran out of hands|raised "
        "doubts|offered tools|objected]."
    ),
    (
        "A [lessons-learned|mid-term|closing|status] [note|session|poster|letter] on {subject} [admits|"
        "stresses|lists|hides] [late testing|good teamwork|unclear roles|lucky timing|{term} surprises], "
        "and [thanks|blames|quotes] {person}."
    ),
    (
        "[Interviews|Site visits|Workshops|Questionnaires] for {subject} [covered|reached|skipped|filled] "
        "[fitters|store clerks|night nurses|dealers|the staff of {customer}], [who|most of whom] [want|"
        "miss|mentioned|drew] [fewer clicks|job cuts|the {term} view|offline work]."
    ),
    (
        "[Risks|Issues|Assumptions|Decisions] of {subject} are [numbered|coloured|reviewed|retired] in "
        "register {code}, [where|in which] the {term} [entry|cluster|chain] has been [red|amber|open|"
        "disputed] since {month}."
    ),
    (
        "{subject} [depends|waits|relies] on [the new label printers|{service} exports|customs approval|a "
        "{term} mould|data from {customer}|trained fitters], which [arrived late|is in doubt|slipped|was "
        "settled] in {month} {year}."
    ),
    (
        "The [pilot|mock-up|prototype|rehearsal] for {subject} at the {office} office [ran|stalled|ended|"
        "surprised everyone] [with|without|despite] [paper forms|two volunteers|{term} data|a power cut|"
        "loud applause], according to log {code}."
    ),
    (
        "[Minutes|Slides|Drawings|Estimates|Videos] of {subject} [lie|are kept|are scattered|are indexed] "
        "in [the shared folder|binder {code}|{service}|a grey cabinet], [sorted|tagged|named] by {term} "
        "[strand|week|author]."
    ),
    (
        "{person} and {other_person} [split|swapped|shared|untangled] the [test cases|interviews|data "
        "cleaning|training dates|drawings] of {subject} [over coffee|by alphabet|by lot|in {month}], "
        "leaving out the {term} [part|list|corner|strand]."
    ),
    (
        "[Communication|Training|Translation|Change] work in {subject} [started|was cut|was doubled|went "
        "quiet] [early|before summer|after the pilot|for lack of hands], and {team} [wrote|filmed|printed|"
        "mailed] a {term} [leaflet|quiz|tour]."
    ),
    (
        "A [rival|parallel|similar|forgotten] [effort|initiative|pilot|script] to {subject} was [found|"
        "merged|stopped|copied] at {other_team} in {month} {year}, [saving|costing] [weeks|tempers|a "
        "{term} detour|some pride]."
    ),
    (
        "[Test|Sample|Migration|Demo] data for {subject} were [invented|masked|borrowed|typed] by "
        "[students|{person}|{team}|volunteers], and [contain|lack|mix] [umlauts|empty rows|{term} codes|"
        "old units|duplicates]."
    ),
    (
        "The [critical|longest|dullest|best] [path|task|week|meeting] in {subject} [ran through|was|"
        "concerned|ended in] [label approval|cable trays|the {term} migration|user names|fire doors], [to "
        "everyone's surprise|as foreseen|says {person}]."
    ),
    (
        "{customer} [joined|followed|left|criticised|hosted] the [user circle|beta round|design review|"
        "field trial] of {subject} [in {month}|as a guest|with two experts|by video], [asking|hoping] for "
        "[fewer alarms|{term} export|print views]."
    ),
    (
        "[Two|Several|Most|None] of the [milestones|papers|trials|visits] in {subject} [slipped|moved|were "
        "met|were dropped] [in autumn|after {date}|because of freight|when {term} stock ran out], [without|"
        "with] [drama|apology|warning]."
    ),
    (
        "[Hardware|Cabling|Furniture|Lab] [orders|swaps|tests|moves] for {subject} [crossed|blocked|"
        "followed|outran] those of {project}, [so|and] {other_team} [shared|delayed|mixed up|returned] the "
        "{term} [crates|racks|keys]."
    ),
    (
        "The [name|logo|mascot|colour] of {subject} [won a vote|was drawn by lot|refers to a song|honours "
        "{person}|means nothing], [beating|after] [Turnip|Lighthouse|Blue Folder|Tin Whistle|the {term} "
        "pun] [narrowly|easily|twice]."
    ),
    (
        "[Auditors|Lawyers|Works councillors|Safety officers|Translators] [read|questioned|cleared|"
        "annotated] the [papers|legal annex|screens|drawings] of {subject} on {date}, [chiefly|apart from] "
        "the {term} [wording|data flow|ladder]."
    ),
    (
        "{subject} [tracks|counts|records|plots] [effort|defects|change requests|travel|scrap] in [a "
        "spreadsheet|{service}|a notebook|weekly cards], [rounded|copied|checked] by {person} and [shown|"
        "mailed|read out] to {team}."
    ),
    (
        "[Old|Parallel|Legacy|Local] [forms|scripts|scales|habits] [replaced|kept alive|broken|copied] by "
        "{subject} [remain|linger|vanish|cause grumbling] in {office}, [where|since] the {term} [printer|"
        "ledger|clerk] [needs|prefers] them."
    ),
    (
        "The [business case|charter|tender file|impact study] of {subject} [argues|assumes|repeats|doubts] "
        "that [errors fall|parcels speed up|staff travel less|{term} stock shrinks|calls drop], [citing|"
        "without] [figures|letters|a visit] by {other_team}."
    ),
    (
        "After [a fire drill|the fair|a long weekend|the move|holiday season], {subject} [restarted|lost "
        "two weeks|changed tools|doubled its reviews] and {person} [redrew|tore up|translated|simplified] "
        "the {term} [chart|backlog|board]."
    ),
    (
        "[Subgroups|Strands|Work packages|Task forces] of {subject} are [called|labelled|coded] [after "
        "birds|by colours|by letters|after {term} tools|like ships], [which|and this] [helps|confuses|"
        "amuses] {other_team} and [guests|auditors|finance]."
    ),
    (
        "A [freeze|pause|sprint|rush] in {subject} [from|around|after|before] {date} [allowed|forced|"
        "enabled|obliged] {team} to [clean data|retest|write manuals|rest|recount {term} parts], [a break|"
        "something] [many|few|all] [welcomed|regretted]."
    ),
    (
        "[Open|Closed|Deferred|Funny] questions from the {subject} [forum|mailbox|town hall|wall] [concern|"
        "touch|include] [parking|passwords|old drawings|{term} rules|who cleans up], [answered|collected|"
        "sorted] by {other_person}."
    ),
    (
        "{subject} [borrowed|copied|improved|rejected] the [board|checklists|estimates|test rig|door "
        "signs] of {project}, [despite warnings from|after talks with|with thanks to] {person}, and [added|"
        "removed|renamed] the {term} [column|step|gate]."
    ),
    (
        "[Freelancers|Students|Interns|Retired fitters] [joined|helped|left|praised] {subject} in {month} "
        "{year} to [type|label|solder|film|interview], [under|beside|instead of] {team}, and [found|lost|"
        "mended] the {term} [list|key|probe]."
    ),
    (
        "In the [demo|show-and-tell|open evening|rehearsal] of {month} {year} {subject} [crashed twice|"
        "went smoothly|drew laughter|ran late], [because|while|as] the {term} [screen|robot|slide|sample] "
        "[froze|melted|leaked|vanished]."
    ),
    (
        "[Acceptance|Regression|Usability|Load] tests for {subject} [use|need|involve] [real parcels|"
        "{customer} data|gloves|noisy halls|the {term} script], [run|watched|scored] by {other_team} [on "
        "paper|at night|in pairs]."
    ),
    (
        "[Estimates|Forecasts|Charts|Surveys] in {subject} were [too rosy|too gloomy|fair|redone] [by half|"
        "for {term} work|in spring|for travel], [as|which] {person} [predicted|graphed|joked|minuted] in "
        "{code}."
    ),
    (
        "The [handover|archive|support] [file|list|folder|box] of {subject} [names|omits|repeats] [open "
        "defects|spare keys|old passwords|{term} suppliers|photo rights], and [waits|lies|goes] with "
        "{team}."
    ),
    (
        "[Neighbours|Dealers|Partners|Unions|Schools] [heard|asked|worried|wrote] about {subject} after "
        "[an article|a rumour|a road closure|a tour|a {term} poster], and {person} [replied|visited|"
        "apologised] on {date}."
    ),
    (
        "A [glossary|style sheet|reading list|song book] for {subject} [defines|bans|collects|translates] "
        "[forty|odd|legal|borrowed] words, [among them|including] {term} and {other_term}, [to help|to "
        "tease|at the wish of] {other_team}."
    ),
    (
        "[Travel|Freight|Catering|Overtime] [notes|receipts|logs|requests] for {subject} [go|went|are "
        "sent] through form {code} to {other_person}, [monthly|unsorted|with photos], [except|including] "
        "{term} [trips|crates|shifts]."
    ),
    (
        "[Everything|Little|Much|Most] that {subject} [learned|found out|wrote|assumed] about {term} [tags|"
        "hoists|mirrors|joins] is [reused|ignored|cited|taught] [by {other_team}|in courses|in {project}|"
        "at fairs]."
    ),
    (
        "The [project|spare|corner|attic] office of {subject} [smells|reeks] of [solder|coffee|fresh paint|"
        "wet coats], and its [wall|window|door] [carries|hides|lists] the {term} [map|timeline|betting "
        "sheet] by {person}."
    ),
    (
        "[Stakeholders|Critics|Friends|Observers] of {subject} [receive|demand|skip|archive] a [weekly|"
        "short|coloured|blunt] [letter|digest|card], [written|translated|drawn] by {other_person} around "
        "the {term} [theme|figure|puzzle]."
    ),
    (
        "When [the haulier|a tester|the translator|a carpenter|the night porter] [fell ill|went quiet|"
        "moved|objected] in {month}, {subject} [improvised|waited|shrank|reordered its tasks] and {team} "
        "[lent|made|found] [two racks|a driver|{term} samples]."
    ),
    (
        "[Quality|Ethics|Safety|Data] reviews of {subject} [took place|began|ended] on {date} with [doubts|"
        "praise|homework|a walk], [recorded|signed|photographed] as {code} and [shown|sent] to "
        "{other_team}."
    ),
    (
        "{subject} [cannot|will not|need not] [change tariffs|touch wages|move walls|alter {product}|"
        "rename {term} files], [as|since] [the charter|{person}|the council|a memo] [says|insists|"
        "confirms] in [plain words|a footnote|{code}|the preamble]."
    ),
    (
        "[Photos|Film clips|Quotes|Models] from {subject} [appear|are shown|are used] in [{office}|the "
        "annual report|a calendar|recruiting ads|the canteen], [showing|minus] the {term} [crane|crew|"
        "mess] and {other_person}."
    ),
    (
        "[Half|Part|All|Some] of the [code|cabling|paperwork|furniture] from {subject} was [given|sold|"
        "lent|moved] to {other_team} [by {date}|in crates|without papers], [including|apart from] the "
        "{term} [boards|lamps|macros]."
    ),
    (
        "[Celebrations|Farewells|Complaints|Bets] around {subject} [ended|began|were held] in {month} with "
        "[soup|speeches|a raffle|karaoke|silence], and {person} [won|kept|auctioned] the {term} [mug|"
        "banner|bell]."
    ),
    (
        "Where {subject} and {project} [touch|clash|share people|need the same hall], {other_person} "
        "[keeps|redraws|shows|defends] a [shared|simple|weekly|tense] {term} [calendar|matrix|truce|map] "
        "under {code}."
    ),
)
