"""What pages on people say besides their facts."""

from __future__ import annotations

PROSE = (
    (
        "In {month} {year} {subject} helped {team} [untangle|rewrite|document|sort out|tidy up] the "
        "[sample register|drawing archive|test rig|packing list|shift log|spares catalogue] that had grown "
        "around {product}."
    ),
    (
        "{subject} speaks [Polish|Portuguese|Finnish|Italian|Dutch|Turkish|Czech] well enough to [read "
        "supplier drawings|follow a site meeting|answer a hotline call|check a translation|chair a "
        "workshop], and [some|rusty|basic|written] [Estonian|French|Greek|Hungarian|Danish] besides."
    ),
    (
        "Ask {subject} about [gasket chemistry|thread gauges|old firmware|customs forms|paint batches|"
        "humidity cells|cable glands], which [few colleagues|only {person} and a handful of others|not "
        "many people|only old hands] remember in any detail."
    ),
    (
        "The [talk|poster|short paper|internal note|lunch lecture] on the {term} [method|effect|fixture|"
        "allowance|sequence] that {subject} gave in {month} {year} is [kept|filed|linked|archived] under "
        "{code}."
    ),
    (
        "Earlier in life {subject} [taught physics|repaired ship radios|ran a bakery|surveyed tunnels|sold "
        "lab glass|tested lifts|edited a trade magazine] for [a while|several winters|the better part of a "
        "decade|longer than planned]."
    ),
    (
        "When a [crate|sensor|pallet|prototype|reference block] goes missing between {office} and the test "
        "hall, {subject} is [usually|often|sooner or later|almost always] the one who [finds|traces|"
        "recovers|accounts for] it."
    ),
    (
        "{subject} [dislikes|avoids|politely declines|does not answer] [long mail chains|calls before nine|"
        "slides without numbers|meetings without minutes|unnamed attachments] and [prefers|asks for|would "
        "rather have] a [short note|marked drawing|one-page summary|numbered list|sketch]."
    ),
    (
        "Together with {person}, {subject} [wrote|revised|illustrated|proof-read|shortened] the [chapter|"
        "leaflet|wall chart|checklist|glossary entry] on the {term} [gauge|ritual|clamp|table|rule], which "
        "newcomers still [read|copy|quote|colour in]."
    ),
    (
        "A [grey cabinet|tin box|shared folder|ring binder|whiteboard] labelled {code} holds the [notes|"
        "offcuts|calculations|photographs|failed samples] that {subject} [collected|kept|rescued|produced] "
        "during the {term} [trials|audit|survey|move|campaign]."
    ),
    (
        "{subject} [plays the cello|keeps bees|restores bicycles|rows|sings in a choir|builds kites|mends "
        "clocks|bakes rye bread] and has [once|twice|more than once] [brought the results to the office|"
        "talked {other_person} into it|written about it for the staff paper]."
    ),
    (
        "Colleagues describe {subject} as [patient|blunt|exact|cheerful|dry|unhurried|stubborn] in "
        "[reviews|negotiations|handovers|stocktakings|arguments about units] and [generous|quick|careful|"
        "reliable|sparing] with [praise|footnotes|corrections|coffee|advice]."
    ),
    (
        "The [monthly|quarterly|yearly|occasional] [roundtable|clinic|reading circle|repair afternoon] on "
        "[uncertainty|solder joints|plain language|spreadsheets|old standards] was [founded|revived|saved|"
        "renamed] by {subject} after a [dull|heated|cancelled|crowded] session in {office}."
    ),
    (
        "{subject} [travelled|went|was sent|drove] to {office} in {month} to [compare|witness|photograph|"
        "repeat|calm down] the {term} [tests|counts|weighings|acceptance runs], and [came back with|"
        "brought home|reported] [mixed|sobering|better than expected|inconclusive] figures."
    ),
    (
        "Two [drawings|spreadsheets|scripts|jigs] that {subject} made for {customer} are [still in use|in "
        "the archive|copied everywhere|long obsolete], although the [{term} scale|second sheet|cover page|"
        "unit column] has been [corrected|replaced|dropped] since."
    ),
    (
        "In reviews {subject} [always|never fails to|likes to|tends to] ask [who will read it|what the "
        "unit is|which drawing applies|where the raw data lie|how the sample was drawn], to the [delight|"
        "despair|amusement|relief] of [those present|newcomers|the authors|visitors|{person}]."
    ),
    (
        "{subject} [passed|retook|failed|sat] the [forklift|first-aid|laser safety|hot work|auditor|"
        "driving] [exam|course|test|refresher] in {month} {year} and [recommends|warns against|speaks well "
        "of|shrugs at] the [trainer|canteen|textbook|venue]."
    ),
    (
        "On [Fridays|Mondays|quiet days|release days|delivery days] {subject} [answers|sorts|prints out|"
        "works through] the questions that [{customer}|{vendor}|the hotline|the works council|"
        "{other_team}] left about [tolerances|invoices|spare seals|labels|export papers]."
    ),
    (
        "Old [tickets|memos|logbooks|mail threads] from {year} sometimes [spell|abbreviate|misread|"
        "hyphenate] the name of {subject} [differently|in two ways|without the accent|as initials], which "
        "has [confused|amused|misled] [the archive search|the mail desk|{person}|visitors]."
    ),
    (
        "{subject} [represents|represented|speaks for|sat in for] the [staff|young engineers|night shift|"
        "part-timers|test hall] in the [canteen|parking|suggestion box|noise|furniture] [circle|group|"
        "round], a [thankless|quiet|lively|surprisingly busy] duty."
    ),
    (
        "The [habit|idea|rule|trick] of [weighing crates twice|photographing every label|dating sketches|"
        "writing units in full|reading scales aloud] comes from {subject}, who [learned|borrowed|adapted|"
        "stole] it from [a shipyard|{vendor}|an aunt|the {term} handbook]."
    ),
    (
        "During the [flood|heat wave|strike|power cut|stocktaking] of {month} {year} {subject} [stayed "
        "with|kept watch over|moved|rewired|labelled] the [humidity cells|reference weights|sample fridge|"
        "server rack|archive shelves] with {other_person}."
    ),
    (
        "{subject} [keeps|maintains|curates|prunes] the list of [house words|banned abbreviations|paint "
        "colours|supplier nicknames|drawing stamps], in which the {term} [entry|page|story] is the "
        "[longest|oldest|most disputed|funniest] of all."
    ),
    (
        "For {project} {subject} [drew|estimated|measured|translated|tested] [the cable routes|the first "
        "mock-up|the packaging|the user survey|a set of brackets] and [left|stepped back|handed over|"
        "returned to other work] in {month} {year}."
    ),
    (
        "Visitors to the [open day|summer school|trade fair|factory tour] know {subject} from the "
        "[pendulum|vacuum bell|giant micrometer|weighing game|leaking pipe] demonstration, [usually|always|"
        "invariably] [crowded|loud|wet|late] by noon."
    ),
    (
        "A [portrait|short interview|photograph|quiz] with {subject} [appeared|was printed|ran] in the "
        "staff paper of {month} {year}, [between|next to|just below] the [canteen menu|crossword|chess "
        "results|jubilee list] and a paragraph about {term}."
    ),
    (
        "{subject} [mentors|coaches|advises|supervised] [apprentices|students|interns|career changers] who "
        "[build|simulate|document|repair] {term} [rigs|parts|tables|boards], most recently on [a mirror "
        "mount|a leak bench|a data logger|a weighing cell]."
    ),
    (
        "Most of the [photographs|sketches|tables|footnotes] in the {product} [manual|service guide|"
        "training folder] were [made|chosen|checked|retouched] by {subject} while [waiting for parts|"
        "recovering from a broken wrist|stranded in {office}|on loan]."
    ),
    (
        "The [desk|shelf|window sill] of {subject} is [known|famous|recognisable] for [a brass level|three "
        "dead cacti|a jar of odd screws|an abacus|a model crane|a stack of punched cards], a present from "
        "{person}."
    ),
    (
        "If {subject} is [away|ill|travelling|on leave], [non-urgent|ordinary|routine] [requests|questions|"
        "samples|drawings] are [left in the tray|collected in the shared folder|kept until the return|"
        "parked under {code}] and [sorted|answered|picked up] later."
    ),
    (
        "{subject} [once|famously|reluctantly] [argued|showed|demonstrated|conceded] that the {term} "
        "[coefficient|clause|screw|threshold] made no [measurable|practical|legal|visible] difference, and "
        "{team} [changed|deleted|rewrote|framed] the [sheet|page|form]."
    ),
    (
        "[Letters|Postcards|Long mails|Calls] from [{customer}|retired colleagues|a school class|{vendor}] "
        "addressed to {subject} [concern|mention|praise|question] [the {term} display|an old brochure|lost "
        "manuals|the museum piece] now and then."
    ),
    (
        "With {other_person}, {subject} [won|came second in|judged|organised] the [bridge-building|"
        "suggestion|photo|chess|table football] [contest|cup|prize] of {year}, using [cardboard|scrap "
        "aluminium|a borrowed clock|spare {term} parts]."
    ),
    (
        "{subject} [studied|read|trained in|graduated in] [geodesy|optics|process engineering|library "
        "science|instrument making|mathematics|materials testing] and wrote a [thesis|dissertation|final "
        "report] on [{term} drift|creep in springs|dust counts|weather radar|wool moisture]."
    ),
    (
        "The [standing|weekly|informal|open] [coffee hour|question hour|walk|breakfast] with {subject} is "
        "[for anyone|announced by mail|often moved|rarely empty] and deals with [metrology gossip|"
        "half-baked ideas|spreadsheet trouble|the {term} backlog]."
    ),
    (
        "{subject} [asks|reminds|begs|urges] everyone to [return|label|count|wipe|log] the {term} "
        "[adapters|keys|gloves|weights|cables] after [use|demonstrations|weekend shifts|fairs], because "
        "[three|several|too many|a dozen] have [vanished|walked off|been bent]."
    ),
    (
        "A [patent|utility model|design right|trade secret] on the {term} [hinge|coupling|lens hood|valve "
        "seat] names {subject} and {person} as [inventors|authors|originators], filed in {month} {year} "
        "under {code}."
    ),
    (
        "Notes by {subject} on [{service} dashboards|freight damage|printer drivers|sealing wax|torque "
        "wrenches] are [terse|hand-written|surprisingly funny|thorough|in pencil] and [scanned|kept|"
        "shared] with {other_team} on request."
    ),
    (
        "{subject} [translated|abridged|indexed|annotated] the [safety sheets|assembly drawings|tender "
        "papers|packing rules] of {vendor} in {month} {year}, [by hand|over a weekend|with a dictionary|"
        "under protest], when {product} was [late|new|being certified]."
    ),
    (
        "Between [fairs|audits|stocktakings|trips], {subject} [sorts|digitises|rebinds|re-reads] the "
        "[field notebooks|glass plates|punch cards|calibration diaries] left by {other_person}, looking "
        "for [early {term} data|errors|forgotten methods|good anecdotes]."
    ),
    (
        "The [joke|saying|warning|rule of thumb] that every {term} [bolt|table|report] is [tight|correct|"
        "finished] until {subject} has seen it [dates from|goes back to|was born in] the [hard|wet|long] "
        "[winter|spring|autumn] of {year}."
    ),
    (
        "{subject} [has|keeps|collects|inherited] a [complete|nearly complete|battered|rare] set of "
        "[{product} brochures|house magazines|slide rules|apprentice files|enamel signs] and [lends|shows|"
        "sells|never lends] [pieces|parts] of it."
    ),
    (
        "In the [survey|staff poll|interview round] of {year} {subject} [named|listed|mentioned] [noise|"
        "slow builds|missing hooks|stale coffee|form {code}|unclear drawings] as the [greatest|smallest|"
        "most fixable|oldest] nuisance of the working day."
    ),
    (
        "{subject} has [signed off|rejected|reopened|commented on] [dozens|hundreds|a pile|a long row] of "
        "[deviation slips|change requests|sample cards|test reports], the last about [{term} residue|loose "
        "inserts|a scratched lens|ambiguous labels] at {customer}."
    ),
    (
        "[People|Newcomers|Auditors|Students] who [shadow|visit|follow|interview] {subject} for a day "
        "[learn|discover|are told|find out] why the {term} [cabinet|protocol|bench] is [locked|warm|"
        "painted red|never moved|listed twice]."
    ),
    (
        "From {month} to the end of {year} {subject} [was on parental leave|worked half days|sat on an "
        "exam board|was lent to {project}|wrote a textbook|recovered from an accident], and [missed|"
        "skipped|followed from afar] the {term} [review|move|debate]."
    ),
    (
        "The [spare key|visitor book|torque wrench|first-aid bag|good camera] is [not|no longer|never] "
        "with {subject}, whatever the [old poster|wiki|sticker|induction leaflet] [says|claims|suggests]; "
        "ask at the [gate|front desk|stores|workshop]."
    ),
    (
        "{subject} and {other_person} [disagree|have long argued|differ in print] about [rounding|the "
        "{term} constant|cork linings|paper logs|the right oil], [to the benefit|at the expense|to the "
        "amusement] of [reviews|lunch|everyone near them]."
    ),
)
