"""Sentences that stand around the facts of an asset."""

from __future__ import annotations

PROSE = (
    (
        "[Switch on|Power up|Start] the [unit|device|machine] [well|some time] before the [first|real] "
        "[measurement|reading|run], as it [drifts|wanders|creeps] while [cold|warming up|settling]."
    ),
    (
        "The [manual|operating guide|quick card] lies in the [drawer|plastic sleeve|side pocket] below, with "
        "[pencil|handwritten|coloured] [notes|remarks|corrections] by [generations|several years] of "
        "[users|trainees|technicians]."
    ),
    (
        "[Scratches|Dents|Stains] on the [housing|left panel|lid|base plate] are [old|harmless|known] and "
        "[photographed|recorded|described] under {code}, so [please|kindly] do not [report|sand|paint] them."
    ),
    (
        "[Liquids|Food|Magnets|Loose screws|Open flames] have no [place|business] near {subject}, a "
        "[rule|point] that {person} [repeats|stresses] to every [visitor|intern|class]."
    ),
    (
        "[Cables|Adapters|Clamps|Probes] that [belong|go] with the [unit|set] are [marked|ringed|taped] in "
        "[green|violet|orange|white] and are [counted|checked] at [stocktaking|the end of the week]."
    ),
    (
        "[Bookings|Reservations|Slots] are [made|entered|placed] in the [equipment|bench|laboratory] "
        "calendar; [spontaneous|unbooked|quick] use is [fine|tolerated|possible] when the [lamp|sign|flag] "
        "is [green|down|off]."
    ),
    (
        "A [dust cover|foam lid|cotton hood] is [put|pulled] over the [device|table|optics] [overnight|on "
        "Fridays|during building work], since [cleaning|drilling|sweeping] [raises|stirs up] [fine|abrasive] "
        "dust."
    ),
    (
        "The [firmware|software|controller] on board is [deliberately|intentionally] [old|untouched|frozen], "
        "because the {term} scripts [depend|rely] on its [quirks|output format|timing]."
    ),
    (
        "[Loans|Transfers|Trips] to [other|neighbouring|distant] [buildings|offices|halls] are "
        "[possible|arranged] in the [padded|wooden|grey] [crate|case], never in a [private|borrowed] "
        "[car|trolley] or [without|lacking] [straps|a note]."
    ),
    (
        "During the [move|flood|refit|stocktaking] of {year}, {subject} was [wrapped|stored|set aside] in "
        "the [cellar|hall|container] and came [back|out] [unharmed|dusty but sound|with a loose foot]."
    ),
    (
        "[Strange|Unusual|New] [noises|smells|error codes|vibrations] should be [written "
        "down|filmed|described] with [time|load|settings], since [they|such things] [vanish|stop] as soon as "
        "a [specialist|technician] [arrives|listens]."
    ),
    (
        "The [insurance|finance|inventory] [department|office|desk] [wants|asks for|needs] a "
        "[photograph|picture] of the [plate|front|whole] whenever [parts|panels|feet] are "
        "[changed|replaced|added]."
    ),
    (
        "[Training|An introduction|A short briefing] is [required|needed|asked for] before "
        "[unsupervised|solo|night-time] use, and the [list|register|sheet] of [trained|admitted|briefed] "
        "people [hangs|is kept] [nearby|beside the switch]."
    ),
    (
        "{team} [borrowed|used|booked] it for the {term} trials and [left|wrote|added] "
        "[helpful|detailed|candid] [notes|settings|remarks] in the [logbook|folder|margin]."
    ),
    (
        "[Spare|Wearing|Consumable] parts such as [filters|belts|fuses|gaskets|lamps] are in the "
        "[tin|box|cabinet] [labelled|marked] {code}; [take|use] the [oldest|front|top] one first."
    ),
    (
        "[Do not|Never] [lean|sit|put cups] on the [table|rail|housing]; the [alignment|levelling|bubble] "
        "[suffers|shifts|is lost] and [takes|needs] an [afternoon|expert|hour] to [restore|set]."
    ),
    (
        "The [noise|heat|airflow] [disturbs|bothers|annoys] the [neighbouring|next|adjoining] "
        "[bench|desk|laboratory], so [long|overnight|heavy] runs are [arranged|agreed|discussed] with "
        "{other_team}."
    ),
    (
        "[Readings|Results|Exports] are [saved|dropped|written] to the [share|stick|folder] named {term}, "
        "where they [stay|remain] until [someone|the user] [sorts|moves|clears] them."
    ),
    (
        "The [shut-down|end-of-day|closing] [sequence|routine|order] [matters|is important]: "
        "[vent|park|unload] first, then [switch off|cool|release], then [cover|lock|log out]."
    ),
    (
        "[An upgrade|A retrofit|A new display|A second channel] has been [discussed|wished for|sketched] "
        "[more than once|since {year}], and [always|each time] [lost|gave way] to [more "
        "urgent|cheaper|bigger] [purchases|plans]."
    ),
    (
        "[Visitors|Students|Auditors] like to [see|photograph|touch] it; [guides|hosts] should [keep|hold] "
        "[hands|bags|children] [away|at a distance] from the [moving|hot|sharp] [parts|edge|plate]."
    ),
    (
        "The [feet|castors|rails] were [levelled|adjusted|shimmed] by {person} with a [spirit level|feeler "
        "gauge|sheet of paper], and the [shims|screws|locks] are [sealed|painted|marked] in "
        "[red|yellow|lacquer]."
    ),
    (
        "A [large|red|mushroom-shaped] [stop|button|switch] is [fitted|found] at the [front|right|rear], and "
        "is [tried|tested|pressed] at the [start|beginning] of [each|every] [shift|week|session]."
    ),
    (
        "[Older|Earlier|Previous] [results|printouts|curves] from this [unit|bench|device] are in "
        "[binders|folders|boxes] [marked|labelled] {term}, and [remain|are] [useful|instructive] for "
        "[comparison|trend studies|disputes]."
    ),
    (
        "The [display|screen|scale] is [hard|difficult] to read in [direct|low|evening] [sun|light]; a "
        "[cardboard|folding|magnetic] [hood|shade] [hangs|waits] on the [hook|side|door]."
    ),
    (
        "[Users|Teams|Groups] [disagree|differ] about the [best|right|proper] [warm-up|mounting|cleaning] "
        "[method|routine], and both [schools|views|camps] are [described|set out] in the {term} wiki."
    ),
    (
        "The [power|compressed-air|water] [supply|connection|hose] is [shared|split] with [another|a second] "
        "[bench|machine], so [dips|drops|surges] [show up|appear] in the [trace|signal|record] [now and "
        "then|at noon]."
    ),
    (
        "[Accessories|Adapters|Fixtures] [made|printed|turned] in the [workshop|apprentice shop] [fit|work] "
        "better than [bought|catalogue] ones, and their [drawings|files|models] are [filed|stored] under "
        "{code}."
    ),
    (
        "[When|Whenever] the [tag|label|barcode] [peels|fades|falls off], [ask|ring|mail] {person} for a "
        "[replacement|fresh one|printed one] instead of [writing|scratching] on the [paint|metal]."
    ),
    (
        "A [user|reader|technician] who [forgets|neglects] to [log out|close the valve|return the key] will "
        "[find|get] a [friendly|yellow|second] [note|card|reminder] on the [keyboard|desk|door]."
    ),
    (
        "[Cleaning|Wiping|Dusting] is done with a [dry|lint-free|soft] cloth; [solvents|sprays|abrasives] "
        "[ruin|harm|cloud] the [coating|window|bearings], as was [learned|seen] in {year}."
    ),
    (
        "The [weight|bulk|size] of the [unit|set|cabinet] calls for [two|several] [people|carriers] and the "
        "[lift|pallet truck|ramp]; [backs|doors|floors] have [suffered|been hurt] [before|already]."
    ),
    (
        "[Nobody|No one] [remembers|knows] why the [dial|knob|switch] on the [side|back] is [taped "
        "over|locked|painted blue], and [nobody|no one] [dares|wishes] to [try|turn] it."
    ),
    (
        "[Settings|Profiles|Recipes] are [named|saved] after the [job|project|purpose], such as {term} or "
        "{other_term}, and never after [persons|moods|weekdays]."
    ),
    (
        "The [air|room|bench] [temperature|climate] is [logged|watched|recorded] by a [sensor|small "
        "box|strip] above, whose [data|curve|record] should be [attached|added] to [critical|customer|legal] "
        "[results|reports]."
    ),
    (
        "[Two|Several] [identical|similar|twin] units [exist|are in the house], so [check|compare|read] the "
        "[tag|label] before [collecting|quoting|adjusting] anything."
    ),
    (
        "[Disposal|Scrapping|Sale] is [not planned|far off|out of the question] as long as {customer} "
        "[asks|calls] for [comparisons|repeats|data] that continue the [old|original] [series|tests]."
    ),
    (
        "A [comparison|round robin|cross-check] with [outside|partner|university] laboratories in {month} "
        "[showed|found] [good|fair|close] [agreement|results], [apart|save] from the [lowest|highest] "
        "[range|channel]."
    ),
    (
        "[Software|Drivers|Libraries] for the [connection|interface|adapter] are on the {term} stick, since "
        "the [download|maker's] page [disappeared|was closed] when the [brand|company] [changed hands|moved "
        "on]."
    ),
    (
        "[Vibration|Draughts|Footsteps|Lifts] [next door|below|above] can be [seen|found] in the "
        "[signal|data] on [busy|market|delivery] days; [evenings|early mornings|Sundays] are [calmer|better]."
    ),
    (
        "[Please|Kindly] [enter|write|note] [every|each] [use|session|run] in the [book|tablet|sheet], even "
        "[short|failed|aborted] ones, because [wear|service|ageing] is [judged|estimated] from [it|the "
        "entries]."
    ),
    (
        "The [key|dongle|card] that [unlocks|enables] the [advanced|service|expert] menu is at the [tool "
        "counter|key cabinet|stores hatch], and is [lent|handed out] [for a day|against a signature|after a "
        "talk]."
    ),
    (
        "[Thermal|Mechanical|Electrical] [stress|strain] from [rapid|repeated|careless] "
        "[cycling|switching|loading] has [shortened|cut] the life of [similar|other] [units|devices], as "
        "{team} [described|reported|warned]."
    ),
    (
        "[Lighting|Shelving|Wiring] around {subject} was [improved|renewed|changed] after an "
        "[ergonomics|insurance|engineering] [walk|visit|check], which [liked|praised] the "
        "[rest|layout|order]."
    ),
    (
        "A [wooden|plastic|printed] [model|dummy|mock-up] of the [unit|fixture|head] is [used|kept] for "
        "[practice|drills|planning], so that the [real|valuable] one [stays|remains] [free|untouched]."
    ),
    (
        "[Rumour|Legend|Workshop lore] has it that the [bench|device|cabinet] was [won|swapped|rescued] in a "
        "[bet|card game|clearance], though the [papers|files|books] [say|prove] [otherwise|something duller]."
    ),
)
