"""What the sections on the trip, the crew and the weather say besides the themes."""

from __future__ import annotations

OPENING = (
    (
        "On {weekday} {date} at {clock} the {model} {name} of {operator} [came to grief|was involved in an "
        "accident] {phase}: {outcome}."
    ),
    (
        "This report [deals with|examines] the accident to {name}, a {model} [run|operated] by {operator}, "
        "on {date}. It happened {phase} and [ended in|took the form of] {outcome}."
    ),
    (
        "{phase}, {name} ({model}, {operator}) [met with|suffered] an accident on {date} at {clock}. The "
        "result was {outcome}."
    ),
    (
        "The {board} [looked into|investigated] the {outcome} involving {name} on {date}. The {model}, [in "
        "the service of|owned by] {operator}, was [caught|affected] {phase}."
    ),
    "{operator} lost the use of its {model} {name} on {date}. {phase} the trip ended in {outcome}.",
)

SYNOPSIS = (
    "Of {aboard} persons on board {few} were [hurt|injured], [most|some] of them slightly.",
    "{toll}",
    "The [inquiry|investigation] [lasted|took] {dozen} months and heard {dozen} witnesses.",
    "The [wreck|damaged {craft}] was [examined|taken apart] in a [hangar|shed] at {place}.",
    "[Traffic|Service] in {region} was [suspended|interrupted] for {few} days.",
    "The [damage|loss] was put at {hundreds} thousand crowns.",
    (
        "[Notification|The first call] reached the Board within [the hour|forty minutes]; {few} "
        "investigators [set out|left] at once."
    ),
    "{operator}, {maker} and the Inspectorate were [represented|parties to the inquiry].",
    (
        "The [chain|sequence] of events was [short|longer than it first seemed], and [no single|not one] "
        "decision explains it."
    ),
    "A preliminary notice was [issued|published] in {month}; this text replaces it.",
    "{person} [led|directed] the inquiry; the file runs to {hundreds} pages.",
    (
        "The Board [addresses|has addressed] {few} [proposals|pieces of advice] to the parties at the end "
        "of this text."
    ),
    "The {craft} has [since been scrapped|not returned to service].",
    "[Film|Footage] taken by [tourists|a shop camera] was of great help.",
    "This text [apportions|lays] no blame, nor does it settle who is liable.",
    "[Relatives|Families of those concerned] were told of the results before publication.",
)

# The two parts of a history are told in this order.
HISTORY_START = (
    "The {lead} [reported|signed on] at {place} and [took over|accepted] {name} from {person}.",
    "The {lead}, {surname}, had [worked|served] this route for {few} years and knew it [well|by heart].",
    (
        "There had been a [change|swap] of {craft} that {weekday}, because the regular one was [in the "
        "shed|being washed]."
    ),
    (
        "{name} had been [brought out|made ready] by the [morning|early] crew, who [noticed|reported] "
        "nothing unusual."
    ),
    (
        "The trip was the [second|third|fourth] of the day [from {place} to {bound}|between {place} and "
        "{bound}]."
    ),
    "The route [leads|runs] from {place} past {landmark} to {bound} and takes {dozen} minutes.",
    (
        "The {mate} [walked round|went over] the {craft} with a [checklist|pencil and a rag], as [was his "
        "habit|usual]."
    ),
    (
        "[Boarding|Loading] began {dozen} minutes before departure, with {aboard} persons and {few} "
        "[bicycles|parcels]."
    ),
    "{name} was [carrying|loaded with] mail, {few} crates of [fish|apples] and a [walking party|choir].",
    (
        "[Passengers|Those on board] recall [an ordinary|a calm] start and a short [announcement|greeting] "
        "by the {mate}."
    ),
    "{dispatcher} [cleared|released] the {craft} for {bound} and [wished|bade] the crew a good trip.",
    "The {lead} [moved|advanced] the [lever|controls] at {clock}, [by the station clock|as the log shows].",
)

HISTORY_END = (
    "{phase} the {mate} [felt|noticed] a [jolt|shudder] and [called out|reached for the rail].",
    "From then on the course of events could no longer be [changed|turned].",
    "The {lead} [tried|attempted] to [correct|recover], with [little|no] effect.",
    (
        "[A noise came|There came a sound] that witnesses [compare|likened] to [a dropped tray|tearing "
        "cloth|a falling ladder]."
    ),
    "The {outcome} followed [at once|within {dozen} seconds].",
    "The {craft} [swung|veered] to the [left|right] by {dozen} degrees before it [came to rest|stopped].",
    (
        "[People|Passengers] who stood were [thrown|flung] forward; [handbags|a pram] slid the length of "
        "the floor."
    ),
    "It was {clock} when the {craft} [came to rest|finally stood still], {hundreds} metres from {landmark}.",
    "The {craft} ended [at an angle of|tilted by] {dozen} degrees with its [front|nose] towards {bound}.",
    "Nobody [spoke|said a word] for a [moment|while]; then [everyone|all] talked at once, a witness said.",
    "The {lead} [switched off|cut] the power and [went back|turned] to the passengers.",
    "The {mate} [sent|radioed] a distress call, which {dispatcher} [answered|confirmed].",
    (
        "{dispatcher} [noticed|saw] the {craft} stop on the [display|screen] and [alerted|rang] the fire "
        "brigade."
    ),
    "A [farmer|postwoman|ranger] near {landmark} saw the last moments and [ran|cycled] to help.",
    "The first [rescuers|helpers] [arrived|were there] after {dozen} minutes, by [boat|road].",
    "[Tickets|Hats] and [gloves|newspapers] lay scattered as far as {landmark}.",
)

PERSONNEL = (
    "The {lead}, aged {age}, held a [licence|certificate] [issued|first issued] {few} years ago.",
    "{He} had logged {thousands} hours, {hundreds} of them on the {model}.",
    (
        "{person}, the {mate}, aged {years_old}, [joined|came to] {operator} in {month} [two|three] years "
        "earlier."
    ),
    (
        "The medical certificate of the {lead} [was valid|ran] until {month} and [carried|noted] a need "
        "for reading glasses."
    ),
    "The {mate} had [previously worked|spent {few} years] [in a sawmill|as a baker|in the merchant service].",
    "[References|Testimonials] describe the {lead} as [calm|careful|quiet] and [well liked|punctual].",
    "{He} lived {dozen} km from {place} and [came|travelled] to work by [bicycle|motorcycle|bus].",
    "The {lead} held [further ratings|endorsements] for {few} other types and for [radio|towing].",
    "A check ride in {month} was [passed|rated] [with praise|as standard].",
    "The [trainee|guide] on board, {person}, had no part in the [handling|running] of the {craft}.",
    (
        "In the {few} years with {operator} the {lead} had one entry in the personal file, about a "
        "[parking matter|lost key]."
    ),
    "The {mate}'s first-aid certificate had been [renewed|issued] in {month}.",
    "{dispatcher} was [manned|staffed] by {person}, with {years} years in the post.",
    "Hearing and colour vision of the {lead} were [tested|checked] again afterwards and found [good|normal].",
    (
        "The {lead} [spoke to|was interviewed by] the Board {few} times, each time with [counsel|a union "
        "delegate]."
    ),
    "{operator} employs {dozen} people in the same position, [most|a third] of them part-time.",
    "The {lead} is married and [keeps bees|sings in a choir]; {he} [asked|wished] that this be left in.",
    "[Both|The two] had worked together {dozen} times before.",
)

WEATHER = (
    (
        "The station at {place} [measured|recorded] {temperature} °C and a wind of {few} m/s from the "
        "[north|south-west|east]."
    ),
    "A [ridge|weak low] over {region} [moved|was drifting] [east|north] during the day.",
    "One could see for {visibility}, according to the [observer|instrument] at {place}.",
    "[Cloud|The cloud] covered [five|six|seven] eighths of the sky, with a base near {hundreds} m.",
    "No [thunder|lightning] was [registered|detected] within {dozen} km.",
    "air,water: The [sea|lake] had waves of [a quarter of|half] a metre and a temperature of {teens} °C.",
    (
        "The forecast of the regional [office|service] was [issued|read out] at six and [proved|turned "
        "out] right."
    ),
    "Between {few} and {dozen} millimetres of rain had fallen since [the weekend|{weekday}].",
    "[Snow|Old snow] lay only above 1[2|4|6]00 m.",
    "The wind [backed|veered] by {dozen} degrees in the hour [after|that followed].",
    (
        "The private instrument of a [schoolteacher|yacht club] {few} km away [agrees|is in agreement] "
        "with the official one."
    ),
    "The dew point was {few} degrees [lower|below that].",
    "water: The current in the channel ran at [one|two] knots, as [tabled|predicted].",
    "Records of the [sluice keeper|mountain hut] at {landmark} were [consulted|also used].",
    "A squall line passed {landmark} [hours|a good while] later and had no influence.",
    "The Board asked {person}, a meteorologist, for an [opinion|expert opinion].",
    "Radar pictures [show|contain] no echoes over {region} worth [mention|mentioning].",
    "[Statistics|Records] for {month} at {place} [give|list] {few} comparable days.",
)

RECORDERS = (
    "The [data recorder|event recorder] was found [undamaged|dented] and [held|contained] {dozen} hours.",
    "{dozen} parameters are [stored|written] [once|twice] a second.",
    "The [sound track|audio] was read out at the [laboratory|institute] in {place} within {few} days.",
    "Time stamps [differ|deviate] from radio time by {dozen} seconds and were [corrected|aligned].",
    "Speed [fell|dropped] from {dozen} to [eight|nine] m/s in the [last|final] part of the trace.",
    "The [microphone|area microphone] in the {deck} picked up [footsteps|wipers] and a [kettle|door].",
    "One channel was [blank|empty] because a [connector had worked loose|fuse had blown].",
    (
        "[A transcript|The transcript] of {few} pages is in the file; [private|irrelevant] passages are "
        "left out."
    ),
    "{dispatcher} keeps its own tape, which [matches|confirms] the other to the second.",
    "A [shop|harbour] camera caught the {craft} for {dozen} seconds from the [side|rear].",
    "The memory card of the ticket [reader|printer] gave {aboard} boarding times.",
    "The trace of the {part} [is smooth|shows a step] at {clock}.",
    "The {model} need not carry a recorder; {operator} had [fitted|installed] one of its own accord.",
    "Position data were [recovered|taken] from a hiker's [watch|telephone].",
    "The last [second|two seconds] could not be [read|recovered].",
    "Two experts [listened|worked] independently and [agreed on every word|differed on minor words].",
)
