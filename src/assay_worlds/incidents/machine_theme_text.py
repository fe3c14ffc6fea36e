"""Themes about material and upkeep, in words."""

from __future__ import annotations

from assay_worlds.incidents.theme import Theme

MACHINE_THEMES = (
    Theme(
        "crack",
        ("crack",),
        ("wreckage", "tests"),
        (
            "A fatigue crack had grown [through|across] {percent} per cent of the {part}.",
            "The crack started at a [sharp corner|tool mark] and [spread|advanced] with every load cycle.",
            "Dye penetrant [revealed|showed] {few} further cracks near the {part}.",
            "The inspection interval was [too long|longer than it took] for a crack of this kind to grow.",
            "The crack in the {part} had been [present|growing] for at least {thousands} cycles.",
            "Cracking of the same kind [was found|turned up] on two sister units.",
        ),
        (
            (
                "Under the microscope the broken face of the {part} showed [fine lines|rings] like those "
                "of a tree."
            ),
            (
                "The {part} parted where the metal had been working loose, grain by grain, for [years|a "
                "long time]."
            ),
            "Half of the broken surface was [dull and old|dark with age], the other half bright and new.",
            "[Repeated bending|Thousands of small bends] had weakened the {part} until one more was enough.",
            "A hairline flaw beside the weld [ran|reached] {dozen} millimetres into the {part}.",
            "The {part} [snapped|broke] under a load that a sound one carries [with ease|ten times over].",
            "Beach marks on the fracture [count|number] {hundreds}, one for about each [trip|start].",
            (
                "[Ultrasound|An ultrasonic probe] would have found the split in the {part}, but the probe "
                "was [last used|booked for] another yard."
            ),
            (
                "The tear in the {part} was painted over, [which shows|a sign] that it was there before "
                "the last coat."
            ),
        ),
        (
            "That the {part} be examined for cracks every {hundreds} hours.",
            "That {maker} publish the crack growth data of the {part}.",
        ),
        (
            "That the {part} be retired after {thousands} starts, sound or not.",
            "That the {part} be looked at with ultrasound, not with the naked eye.",
            "That {maker} round off the corner at which the {part} began to break.",
        ),
        (
            "The alarm [was given|had been raised] at the crack of dawn by a [fisherman|baker].",
            "Residents heard a crack of thunder [some time|half an hour] before and paid no attention.",
            (
                "The [glass of a clock|screen of a ticket machine] at {place} was cracked, an old case of "
                "vandalism."
            ),
            "No cracks were found in any [load-bearing|structural] member.",
        ),
    ),
    Theme(
        "corrosion",
        ("corro",),
        ("wreckage", "vehicle"),
        (
            "Corrosion had [reduced|thinned] the {part} to [half|a third] of its section.",
            "The {part} was [heavily|badly] corroded beneath an intact coat of paint.",
            "Galvanic corrosion between steel and aluminium [ate|worked] its way through the {part}.",
            "The corrosion could not be seen without removing the [cover|cladding].",
            "Salt-laden air makes corrosion the main [enemy|threat] to the {part} at {place}.",
            "A corrosion survey was {few} years [overdue|late].",
        ),
        (
            "The {part} could be [crumbled|broken] between the fingers, a mass of brown flakes.",
            "Rust had eaten the {part} from the inside, where [nobody looked|no brush could reach].",
            "A screwdriver went straight through what was left of the {part}.",
            "White powder [bloomed|had formed] where bronze and light alloy touched.",
            "Years of salt spray had left the {part} [paper-thin|as thin as card].",
            (
                "The drain hole was blocked, and the {part} had been [standing|sitting] in brine for "
                "[seasons|years]."
            ),
            "Of {dozen} strands in the wire {few} were [pitted|rusted] through.",
            "The bolts had wasted away to the shape of an hourglass.",
            "Blisters in the paint [hid|concealed] pits {few} millimetres deep.",
        ),
        (
            "That a corrosion survey be made of all [older|sister] units.",
            "That {maker} specify corrosion limits for the {part}.",
        ),
        (
            "That the {part} be opened once a year and its wall thickness measured.",
            "That rusted {part} assemblies be replaced and not painted over.",
            "That zinc anodes be renewed each spring.",
        ),
        (
            "No corrosion was [found|seen] on any part that mattered.",
            "{few} drums of anti-corrosion primer were part of the cargo.",
            "The corrosive tone of the [letters|e-mails] between owner and yard is outside this inquiry.",
        ),
    ),
    Theme(
        "fuel",
        ("contaminat",),
        ("tests", "vehicle"),
        (
            "The fuel was contaminated with {percent} millilitres of water a litre.",
            "Fuel contamination [starved|had starved] the engine {few} minutes after the start.",
            "Contaminated diesel from the depot at {place} had reached {few} other customers.",
            "The source of the contamination was a [cracked filler seal|missing tank cap] at the depot.",
            "Neither sampling nor a filter check [revealed|picked up] the contamination.",
            "Microbial contamination of the tank had [clogged|blinded] the strainer.",
        ),
        (
            "A glass of what came from the tank separated into two layers, the lower of them water.",
            "The strainer was choked with black slime that [smelt|stank] of the tank bottom.",
            "The engine coughed, [caught|ran] again and fell silent as [water|sludge] reached the injectors.",
            "The tanker lorry had carried [molasses|lamp oil] the day before and was not rinsed.",
            "Rain had seeped through the [filler cap|deck plate] into the tank for [weeks|most of {month}].",
            "Nobody had drained the sump below the tank since [early spring|the last overhaul].",
            "Sand and flakes of tank lining [filled|lay in] the bowl of the filter.",
            (
                "The engine had been fed petrol where it needed [diesel|kerosene]: the two pumps stand "
                "side by side."
            ),
            "In the cold the droplets in the line turned to slush, and the [engine|motor] starved.",
        ),
        (
            "That the depot test each delivery for contamination.",
            "That crews learn to recognise fuel contamination from a sample.",
        ),
        (
            "That a jar be drawn from the tank bottom [every|each] morning and held to the light.",
            "That filler caps be given a new seal each year to keep the rain out.",
            "That nozzles for petrol and diesel be made so that they cannot be swapped.",
        ),
        (
            "Contaminated soil at the scene was dug out and [carted off|taken away] by the council.",
            "The sample was discarded because the laboratory had contaminated it with [soap|its own grease].",
            "The drinking water at {landmark} was tested for contamination, a matter for the council.",
        ),
        ("air", "water"),
    ),
    Theme(
        "maintenance",
        ("maintenance",),
        ("vehicle", "organisation"),
        (
            "Maintenance of the {part} had been [deferred|put off] {few} times.",
            "Inadequate maintenance left the {part} [worn|out of adjustment].",
            "The maintenance manual [was not followed|lay unopened] at the last overhaul.",
            "{operator} had [cut|halved] its maintenance staff {few} years before.",
            "Maintenance records for the {part} were [missing|incomplete] for a whole year.",
            "The maintenance contractor [signed for|certified] work that had not been done.",
        ),
        (
            "The torque log for the {part} had not been signed since [spring|the autumn before].",
            "The mechanic fitted the {part} the wrong way round and nobody looked a second time.",
            "[Grease nipples|The grease points] around the {part} were dry and full of [dust|old paint].",
            "A split pin was missing, and a piece of wire had been [twisted|bent] in its place.",
            "The overhaul due in {month} had been moved to [the next year|a quieter season].",
            "Spares for the {part} had been on order for {few} months, and the old one stayed in.",
            (
                "The yearly check of the {part} was ticked on a sheet that bore [tomorrow's date|another "
                "unit's number]."
            ),
            "{person}, the only fitter left, looked after {dozen} units by himself.",
            "The workshop had lost the drawing and [adjusted|set] the {part} by feel.",
            (
                "Nobody had opened the housing of the {part} for [six|seven|nine] years, although the book "
                "says two."
            ),
        ),
        (
            "That {operator} have its maintenance audited from outside.",
            "That maintenance on the {part} be signed by two persons.",
        ),
        (
            "That a second fitter check every joint that the first has tightened.",
            "That overhauls be done on the day they fall due or the unit be taken out of service.",
            "That the workshop be given enough hands and spare parts for its task.",
        ),
        (
            "The maintenance of [order|public order] at the scene was a matter for the police.",
            (
                "Maintenance payments to the families are [dealt with|settled] by the insurer and not "
                "treated here."
            ),
            "All maintenance had been carried out [on time|to the letter], and played no part.",
            "A maintenance-free battery supplied the clock of the [recorder|camera].",
        ),
    ),
    Theme(
        "design",
        ("design",),
        ("vehicle", "tests"),
        (
            "The design of the {part} [allows|allowed] a single fault to [disable|take out] both channels.",
            "A design weakness of the {model} [had been known|was known] to {maker} for {few} years.",
            "By design the {part} [cannot|could not] be inspected once fitted.",
            "The design calculation [left out|omitted] the load case that [arose|occurred] here.",
            "The same design defect [appears|turned up] in {few} earlier reports of this Board.",
            (
                "{maker} changed the design of the {part} later but did not recall the units [in "
                "service|already sold]."
            ),
        ),
        (
            "Two plugs of the same shape sit side by side, and [either|each] fits the other's socket.",
            "{maker} had drawn the {part} for half the load that it carries [every day|in practice].",
            "With one pin lost, nothing else holds the {part}: there is no second line of defence.",
            "The lever moves the same way for [stop and go|open and shut], which invites mistakes.",
            "As conceived by {maker}, both pumps draw power from one fuse.",
            "The bracket is shaped so that water collects in it and [cannot|will not] run off.",
            "The makers never [imagined|reckoned] that the {part} would have to work below freezing.",
            "Units of the same series failed in the same way at {place} and {few} other sites.",
            "The handle can be [reached|released] only by someone standing outside the {craft}.",
        ),
        (
            "That {maker} review the design of the {part}.",
            "That the approval authority re-examine the design assumptions of the {model}.",
        ),
        (
            "That {maker} give the {part} a second, independent locking.",
            "That plugs be shaped so that they fit one socket only.",
            "That units already sold be altered free of charge.",
        ),
        (
            "The designated assembly point was [reached|used] as planned.",
            "Its new livery, designed by a pupil of the school at {place}, had been applied in {month}.",
            "A graphic design student [took|supplied] the photographs in this file.",
        ),
    ),
)
