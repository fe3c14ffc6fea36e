"""What the sections on the vehicle, the wreckage, fire, survival and tests say besides the themes."""

from __future__ import annotations

VEHICLE = (
    (
        "{name} was [built|delivered] by {maker} [eleven|sixteen|twenty-two|nine] years before the "
        "accident as number {dozen} of the series."
    ),
    "The {model} has room for {seats} persons and [a crew of|is run by] two.",
    "It had [covered|clocked up] {thousands} hours [since new|in service].",
    "Its certificate was [valid|in force] until {month} of the following year.",
    "The [drive|motor] delivers {hundreds} kW and was [exchanged|renewed] {few} years earlier.",
    "The {part} is a [forged|cast|welded] piece of {dozen} kg, made in {place}.",
    "[Lighting|Heating] and doors [are fed|draw power] from a battery of {dozen} cells.",
    "{operator} owns {few} of the type, {maker} has sold {many}.",
    "The empty mass is {thousands} kg, [two per cent|slightly] more than in the brochure.",
    "A [new|second] radio had been [added|fitted] in {month}, with the maker's consent.",
    "Seats are [bolted|clamped] to the floor in [rows|groups] of four.",
    "[Windows|Panes] are of laminated glass, {dozen} mm thick.",
    "The {craft} was [named|christened] at {landmark} by the mayor's daughter.",
    "The type was [approved|certified] in Tarnmark on the strength of a foreign certificate.",
    "The log holds one open entry: a [squeaking seat|dim lamp].",
    "Brake, [steering|guidance] and alarm circuits are [separate|laid apart] and [colour-coded|labelled].",
    "The {deck} has [a single seat|two seats] and a panel of {dozen} [lamps|instruments].",
    "The previous owner was a [quarry|holiday resort] in {region}.",
)

WRECKAGE = (
    "The {craft} [lay|was found] on its [left|right] side {many} metres from {landmark}.",
    "Debris was [strewn|spread] over [a strip|an area] {dozen} metres wide and {hundreds} metres long.",
    (
        "[Gouges|Scratches] in the [rock|concrete|gravel] [begin|start] {dozen} metres before the final "
        "position."
    ),
    "The front was [crushed|pushed in] by {dozen} centimetres; the rear was [hardly|not] touched.",
    "The {part} was [recovered|found] {few} days later by [divers|a search dog|scouts].",
    "[Paint|Blue paint] on a [bollard|mast] [matches|is that of] the {craft}.",
    "All [doors|hatches] were accounted for, and [one|two] of them [stood|were] ajar.",
    "The [pieces|parts] were [numbered|tagged], photographed and taken to {place} by [barge|lorry].",
    "Control [runs|cables] could be followed from the {deck} to the [ends|actuators].",
    "The angle of [impact|contact] was [reckoned|estimated] at {dozen} degrees.",
    "The ground is [boggy|stony] here and [kept|preserved] the marks for {few} days.",
    "A [tree|lamp post] was [cut|sheared off] {few} metres above the ground.",
    "The levers in the {deck} were found in the [forward|neutral|rearmost] position.",
    "Needle marks on the [speed dial|gauge] stand at {dozen}.",
    "The outline was [surveyed|measured] by drone to within {few} centimetres.",
    "One [shoe|suitcase] [hung|was caught] in the [rigging|wire] above the scene.",
    "[Oil|Hydraulic fluid] had [soaked|run] into the ground under the [rear|middle] part.",
    "The [floor|bottom] was [ripped|slit] open over a length of {dozen} metres.",
)

FIRE = (
    "[Fire|A fire] broke out {few} minutes after the [stop|impact] near the [battery box|exhaust].",
    "Soot [patterns|traces] point to a [first|single] seat of fire behind the [panel|lining].",
    "[The crew|Attendants] emptied {few} extinguishers before the [brigade|fire engine] came.",
    "Flames [reached|had reached] the [ceiling|roof] within [ninety seconds|two minutes].",
    "Seat foam [gave off|produced] a dense [yellow|black] smoke.",
    "Burn marks on the [left|right] side [fade|weaken] towards the [rear|front].",
    "Aluminium had [melted|run] in drops, so that more than 600 °C were [reached|exceeded].",
    "The fire was [out|under control] after {dozen} minutes.",
)

NO_FIRE = (
    "There was no fire, [before or after|neither before nor after] the event.",
    "{few} litres of oil [leaked|escaped] but did not [ignite|catch light].",
    "The brigade laid a carpet of foam as a [precaution|matter of routine].",
    "[Insulation|Wiring] was [intact|unscorched] wherever it was examined.",
    "A smell of burning [came from|was traced to] the [brake linings|toaster in the galley].",
    "[Scorch marks|Heat marks] on the casing [date from|belong to] an earlier, [minor|documented] case.",
    "Extinguishers on board were [full|sealed] and [in date|inspected].",
)

FIRE_ANYWAY = (
    (
        "The smoke detector in the [rear|hold] was [tested|tried] afterwards and [worked|responded] in "
        "{dozen} seconds."
    ),
    "Interior materials [meet|comply with] the flammability rule in force when {name} was built.",
    "The battery was [isolated|disconnected] by {person} of the brigade.",
    "The brigade of {place} came with {few} vehicles and {dozen} men and women.",
    "A hydrant {many} metres away [gave|supplied] water at once.",
    "An electrician of the Board [followed|traced] {hundreds} metres of cable.",
    "Samples of [carpet|lining] were sent to the institute at {place}.",
    "The [heater|engine] bay is closed off by a [steel|double] wall.",
    "The {model} carries {few} hand extinguishers of six kg.",
    "Neighbours photographed the scene at {clock}; no [glow|flame] is [visible|to be seen] then.",
)

SURVIVAL = (
    "{toll}",
    "[Injuries|Most injuries] were [bruises|cuts] and {few} broken [wrists|ribs|collarbones].",
    "The hospital at {place} [received|admitted] {few} persons, the last at {clock}.",
    "Seats stayed [fixed|in place]; {few} armrests [broke|came away].",
    "Belts are [not provided|fitted] in the {model}; [they were|none was] worn.",
    "A nurse among the passengers [took charge|began] at once to [sort|tend] the injured.",
    "The space around the {lead} was [preserved|kept] except for the [feet|knees].",
    "Rescue [came|arrived] from {bound} by [helicopter|lifeboat|ambulance] after {dozen} minutes.",
    "[Children|Two infants] were [unhurt|safe] in their [prams|mothers' arms].",
    "water: Water [stood|reached] knee-high in the [saloon|compartment] for a while.",
    "Loose [luggage|gear] [caused|was behind] {few} of the head injuries.",
    "[Blankets|Tea and blankets] were [handed out|brought] by the [inn|school] at {landmark}.",
    "The passenger list was [right|off by one], and the search was [called off|ended] at {clock}.",
    "The deceleration, about {few} g, is one that [a seated|a belted] adult survives.",
    "Psychological care was [offered|given] to [all|everyone on board] for {dozen} weeks.",
    "[Spectacles|A broken lamp] [cut|hurt] {few} persons in the face.",
    "The [radio beacon|flare] on board [worked|was set off] and helped to find the place.",
    "An elderly [couple|man] had to be [treated|warmed] for cold.",
)

TESTS = (
    "The {part} was sent to the materials institute at {place} and [cut|sawn] into {dozen} [samples|slices].",
    "Hardness and [grain|composition] [match|agree with] the drawing.",
    (
        "A [sister|second] {craft} was [run|driven] over the same [route|section] {dozen} times with "
        "[sandbags|water drums]."
    ),
    "A computer [model|simulation] reproduced the [course|track] to within {few} metres.",
    (
        "The [brake|clutch] was put on a [bench|test stand] and [held|slipped] at {percent} per cent of "
        "the nominal load."
    ),
    "{few} volunteers [sat|took part] in a mock-up of the {deck}.",
    "[Lamps|Bulb filaments] were [X-rayed|examined] to learn which of them were lit.",
    "The [electronics|boards] were [read out|powered up] under the eyes of {maker}.",
    "The [paint|lubricant] [fits|corresponds to] the specification.",
    "A drop test from {few} metres [bent|deformed] the {part} by {dozen} mm.",
    "[Reaction times|Responses] in the mock-up lay between one and {few} seconds.",
    "{maker} [repeated|checked] the calculation and [arrived at|found] the same margin, {percent} per cent.",
    "The Board had the [measurement|trial] [repeated|confirmed] by a second laboratory.",
    "[Sound|The sound] was compared with that of {few} other units at {clock}.",
    "The switch was [worked|operated] {thousands} times without a [miss|fault].",
    "[Strain gauges|Sensors] were [glued|fixed] to the {part} for a week of normal service.",
    "The result was [clear|within the spread], and [no further|further] trials were [dropped|not needed].",
    "A frozen frame of the film was [enlarged|scaled] to measure the [gap|lean].",
)
