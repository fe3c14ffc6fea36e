"""What pages on customers say besides their facts."""

from __future__ import annotations

PROSE = (
    (
        "{subject} [operates|runs|maintains|inherited] [pumping stations|cold stores|rolling mills|test "
        "tracks|laboratories|greenhouses|ferries], [where|in which] our [gauges|loggers|probes|gateways] "
        "[watch|record|guard|trigger] the {term} [level|dosing|drying|lift]."
    ),
    (
        "A [site visit|survey|walk-round|workshop] at {subject} on {date} [showed|revealed|confirmed|left "
        "open] [blocked filters|good habits|old wiring|crowded menus|{term} wear], as [written|drawn|"
        "photographed] by {person} in {code}."
    ),
    (
        "[Users|Fitters|Shift leaders|Operators|Analysts] at {subject} [ask|asked|wish|press] for [larger "
        "digits|a {term} report|fewer logins|printed labels|night colours], and the [wish|idea|request] "
        "was [logged|forwarded|costed|parked] by {team}."
    ),
    (
        "Tickets from {subject} [mostly|often|lately|rarely] [concern|mention|begin with] [lost passwords|"
        "frozen tablets|odd {term} peaks|late exports|paper jams], [closed|answered|traced] by "
        "{other_team} [within the day|by phone|with a film]."
    ),
    (
        "{subject} [trained|sent|promoted|borrowed] [two|several|a dozen|some] [operators|chemists|"
        "apprentices|planners] in {month} {year}, [so|and] {person} [repeated|shortened|recorded|"
        "translated] the {term} [lesson|demo|drill]."
    ),
    (
        "The [network|firewall|proxy|server park] of {subject} [blocks|slows|mirrors|rewrites] [uploads|"
        "time signals|{term} frames|mail|updates], and [its|their] [administrator|contractor|night desk] "
        "[wants|needs|expects] [lists|tests|letters] from {team}."
    ),
    (
        "[Reference|Press|Photo|Case-study] [visits|stories|calls|permits] at {subject} are [welcome|"
        "allowed|possible], [provided|once|as long as] the {term} [hall|logo|process] is [hidden|masked|"
        "blurred] and {person} [agrees|attends|signs]."
    ),
    (
        "During [harvest|the heating season|regatta week|stocktaking|the night shift], {subject} [wants|"
        "accepts|expects|tolerates] no [updates|visits|calls|tests] on {term} [lines|pumps|silos], which "
        "{other_team} [learned|noted|respects|tells newcomers]."
    ),
    (
        "[Data|History|Drawings|Alarm lists] of {subject} were [moved|cleaned|merged|copied] from [a rival "
        "tool|paper|{service}|old disks] by {person} [over a weekend|in {month} {year}|with students], "
        "[minus|including] {term} [years|codes]."
    ),
    (
        "{subject} [compared|trialled|shortlisted|rejected] [a rival|home-made loggers|rented gear|a "
        "foreign brand] in {year} and [wrote|said|published|hinted] that [support|zero drift|menus|{term} "
        "charts] [decided|mattered|disappointed]."
    ),
    (
        "[Engineers|Managers|Buyers|Nurses|Foresters] of {subject} [met|called|hosted|surprised] {person} "
        "at [the fair|{office}|a regatta|their main gate] and [spoke|joked|complained] about [freight|"
        "{term} noise|new rules|cable theft]."
    ),
    (
        "A [bespoke|small|hidden|temporary] [script|panel|bracket|filter|export] for {subject} [lives|"
        "survives|was found|lay forgotten] in [{service}|branch {code}|a drawer|the {term} module], [known|"
        "kept|tested] only by {team}."
    ),
    (
        "[Letters|Survey answers|Remarks|Scores] from {subject} in {month} {year} [praise|mention|"
        "criticise] [the hotline|slow spares|friendly fitters|thin manuals|{term} alerts], [read|framed|"
        "answered] by {other_person}."
    ),
    (
        "The [merger|move|rename|strike|flood] at {subject} in {year} [changed|froze|doubled|mixed up] "
        "[addresses|badges|tenants|{term} names|shift lists], and {other_team} [cleaned|chased|recounted] "
        "them [for weeks|by phone|twice]."
    ),
    (
        "{subject} [insists|asks|prefers|agreed] that [parcels are plain|visitors wear white|files are "
        "zipped|calls are in German|{term} keys stay], [a rule|which] {person} [explains|forgot|printed] "
        "for [newcomers|fitters]."
    ),
    (
        "[Spare|Loan|Demo|Broken] [units|probes|chargers|cases] at {subject} [are kept|gather dust|await "
        "pickup] [by the gate|in bay {code}|with the porter|beside {term} gear], [says|counts|hopes] "
        "{team}."
    ),
    (
        "In the [pilot|beta|field trial|user circle] for {project} {subject} [tested|broke|praised|"
        "skipped] the {term} [view|alarm|import|map], and [sent|kept|filmed|drew] [logs|sketches|long "
        "mails|a robot]."
    ),
    (
        "[Invoices|Offers|Delivery notes|Reminders] for {subject} [need|must carry|should show|must quote] "
        "[a department code|two languages|order {code}|the {term} mark], or [their|the] [clerk|portal|"
        "auditor] [returns|ignores|reprints] them."
    ),
    (
        "[Auditors|Insurers|Inspectors|Journalists] at {subject} [asked|wondered|wrote] about [log gaps|"
        "{term} seals|user rights|old firmware|clock drift], and {person} [explained|travelled|apologised] "
        "on {date}."
    ),
    (
        "{subject} [built|bought|sketched|scrapped] [its own dashboard|a lab robot|a label printer|a "
        "{term} bridge|training videos] for the night shift, [admired|photographed|envied|described] by "
        "{other_team}."
    ),
    (
        "[Security|Privacy|Safety|Ethics] [questions|papers|annexes|drills] of {subject} [fill|filled|"
        "outgrew] [a binder|form {code}|two calls|whole evenings], [mostly|partly] on {term} [access|"
        "cameras|exports], [answered|checked] by {team}."
    ),
    (
        "The [oldest|loudest|smallest|farthest] [station|line|ward|silo|pump] of {subject} [still|no "
        "longer|barely] [sends|stores|shows] {term} [pulses|values|curves], [tended|watched|checked] by [a "
        "retired fitter|students|{person}]."
    ),
    (
        "[Calls|Visits|Chats|Letters] from {subject} [peak|drop|stop] [before frost|at shift change|in "
        "{month}|after updates], and {other_team} [adds staff|warns the desk|trains helpers|buys coffee] "
        "for {term} [cases|weeks]."
    ),
    (
        "{subject} [recommended|introduced|mentioned] us to [a sister firm|the county|its supplier|"
        "{customer}|a university], [leading|which led] to [a tour|a quote|{term} tests|silence] in {year}."
    ),
    (
        "[Storms|Lightning|Rodents|Vandals|Floods] [damaged|ruined|reached|spoiled] [masts|parcels|cables|"
        "{term} boxes|tablets] at {subject} in {month}, [repaired|listed|photographed] by {person} [at "
        "once|by torchlight|within days|twice]."
    ),
    (
        "[Names|Roles|Time zones|Units] at {subject} [differ|change|clash|are doubled] between [shifts|"
        "sites|{term} lists|languages], so [check|copy|ask for] sheet {code} before [calling|importing|"
        "printing] anything."
    ),
    (
        "The [steering|user|crisis|year-end] meeting with {subject} in {office} [praised|postponed|ranked|"
        "rejected] [{product} ideas|night support|{term} maps|shared tests], [minuted|chaired in part|"
        "catered] by {other_person}."
    ),
    (
        "[Upgrades|Swaps|Repairs|Clean-ups] at {subject} [start|end|are watched] [at dawn|by lantern|with "
        "the foreman|behind tape], and [fitters|guests|members of {team}] [fetch|sign for|return] {term} "
        "[vests|boots|keys]."
    ),
    (
        "{subject} [collects|publishes|deletes|sells] [river data|yield maps|noise charts|{term} series|"
        "dust counts], [partly|wholly|never] [measured|checked|hosted] with our [gear|help|scripts], "
        "[writes|notes] {person}."
    ),
    (
        "[Students|Neighbours|Inspectors|Tour groups] [visit|photograph|study|question] the [tower|weir|"
        "kiln|lab] of {subject}, [guided|followed|amused] by {other_person} and a {term} [model|poster|"
        "siren]."
    ),
    (
        "[Wrong|Old|Doubled|Blank] [alarms|labels|users|readings] at {subject} [came|stem|vanished] from "
        "[a loose plug|summer time|{term} rounding|test mode|two clocks], [found|shown] by {team} in "
        "{code}."
    ),
    (
        "A [thank-you|stern|joint|draft] [letter|card|release|poster] from {subject} [hangs|lies|arrived|"
        "was lost] in {office} and [thanks|praises|teases] {person} for [night work|soup|the {term} "
        "repair]."
    ),
    (
        "{other_team} [rehearsed|shares|wrote|lost] a [checklist|route card|packing list|phone script] for "
        "{subject}, [covering|skipping] [ferry times|gate codes|boots|{term} fuses|dogs], last [changed|"
        "printed|seen] on {date}."
    ),
    (
        "[Local|Federal|Old|Pending] rules oblige {subject} to [log|seal|print|sign|store] {term} [values|"
        "tests|visits] [twice|on paper|with witnesses], [so|hence] our [devices|displays|fitters|testers] "
        "[wait|take longer|sign twice] there."
    ),
    (
        "[Papers|Rumours|Tenders|Sketches] at {subject} [speak|tell|hint] of [a new wing|a closure|shared "
        "labs|{term} trains|solar roofs], [seen|heard|filed] by {person} in {month} {year}."
    ),
    (
        "The [porter|foreman|librarian|night chemist] at {subject} [knows|keeps|forgot|draws] [every valve|"
        "spare badges|the {term} code|our old van|good coffee], and [helps|tests|teases] [fitters|"
        "{other_team}]."
    ),
    (
        "{subject} [mixes|runs|retired|repainted] [three|two|several] generations of [gauges|gateways|"
        "panels], [the oldest|one] [bearing|missing|hiding] the {term} [badge|board|seal], [listed|mapped] "
        "in {code} by {team}."
    ),
    (
        "[Feedback|A quiz|A film|An article] by {subject} on [gloves at work|tank cleaning|cold halls|"
        "apprentices] [reached|pleased|embarrassed|helped] {other_team}, [mainly|except] the [part|joke|"
        "figure] about {term} [dust|menus|gloves|ladders]."
    ),
    (
        "[Exports|Reports|Charts|Backups] for {subject} [go|went|are mailed] [to the council|to a vault|by "
        "night|in {term} format], [checked|masked|renamed] by {person} [since {year}|by hand|on request]."
    ),
    (
        "If {subject} [calls|writes|escalates|reports smoke], [stay calm|note the hall|ask for the {term} "
        "lamp|open ticket {code}|wake {other_team}] and [tell|inform|copy in] {person} [early|at once|"
        "afterwards]."
    ),
    (
        "[Fitters|Drivers|Trainers|Testers] [like|dread|recall] trips to {subject} [because of|for|"
        "despite] [the ferry|the fish soup|steep ladders|its kind hosts|{term} fumes], as they [tell|"
        "assure|warn] everyone in {office}."
    ),
    (
        "{subject} [shares|shared|once swapped] [a crane|test water|reference gas|the {term} rig|rail "
        "cars] with {customer}, which {team} [arranged|envied|photographed] during {project}."
    ),
    (
        "[Naming|Billing|Mapping|Language] [quirks|leftovers|merges|errors] of {subject} in {service} were "
        "[cleaned|explained|frozen|listed] on {date}, [apart from|including] {term} [tenants|lines|sites]."
    ),
    (
        "[Two|Most|Some|A few] of the [wishes|complaints|sketches|questions] from {subject} [inspired|"
        "became|led to] [tickets|test cases|{term} drawings|a lunch talk|a comic strip], [thanks to|"
        "recorded by|in spite of] {person}."
    ),
    (
        "[Retired|Former|New|Temporary] [staff|chemists|clerks|guards] of {subject} [write|phone|visit] "
        "[on Sundays|from boats|about {term} days|at Christmas], and {other_person} [replies|listens|takes "
        "notes] [at length|with patience|in rhyme]."
    ),
)
