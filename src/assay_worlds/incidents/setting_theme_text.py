"""Themes about weather, darkness, load and escape, in words."""

from __future__ import annotations

from assay_worlds.incidents.theme import Theme

SETTING_THEMES = (
    Theme(
        "icing",
        ("icing",),
        ("weather", "wreckage"),
        (
            "[Severe|Moderate] icing was [present|to be expected] at {place} that {weekday}.",
            "Icing [took away|robbed the {craft} of] a good part of its [performance|margin].",
            "The forecast had [mentioned|foreseen] icing [above|from] {hundreds} metres.",
            "air: Airframe icing raised the stalling speed by {dozen} per cent.",
            "water: Icing of the superstructure [cost|had cost] the ferry much of its stability.",
            (
                "rail,rope: Icing of the [contact line|track and rollers] [was reported|had been reported] "
                "twice that morning."
            ),
            "The icing [went|had gone] unremarked until it was too late to [turn back|stop].",
        ),
        (
            "air: Rime had built up along the leading edge [as thick as a thumb|to the depth of a finger].",
            (
                "air: The wings wore a rough white [coat|crust] that the rubber boots [could not|failed "
                "to] shed."
            ),
            (
                "air: The pitot head was frozen over, and the needle of the speed indicator [sank|fell] to "
                "nothing."
            ),
            "air: Clear glaze on the [propeller|rotor] [shook|rattled] the whole airframe.",
            "water: Spray had frozen on rails and mast until the ferry [carried|bore] {dozen} tonnes of it.",
            (
                "water: The crew [were beating|had been beating] frozen spray off the windlass with "
                "mallets since dawn."
            ),
            "rail: The pantograph [arced|skipped] along a wire sheathed in frozen drizzle.",
            "rail: Frozen slush packed the [flangeways|points], and the wheel rode up.",
            (
                "rope: Hoar [as long as fingers|in long needles] hung from the haul rope and the sheaves "
                "had stopped turning."
            ),
            "rope: The gripping jaws [closed|had closed] on a rope glazed by freezing rain.",
            "Supercooled drizzle froze on every surface it [touched|met] that [morning|day].",
            (
                "A layer [two|three|four] centimetres thick, hard and [clear|white], had to be chipped off "
                "before the [examination|inspection]."
            ),
            "At {temperature} degrees and in wet cloud, water turned solid wherever it [struck|landed].",
        ),
        (
            "That {operator} [cease|stop] operations when icing is forecast on the route.",
            "That crews be given a chart of icing levels before [each|every] departure.",
        ),
        (
            "That heaters be fitted to [every surface|the parts] on which wet cloud can freeze.",
            "That no {craft} leave before frost and frozen spray have been [scraped off|cleared away].",
            "That crews turn back at the first sign of rime rather than wait for more.",
        ),
        (
            "Icing was [neither forecast nor reported|not a factor: the air was too dry].",
            "The freight included {few} pallets of icing sugar for the bakery at {place}.",
            (
                "A passenger's birthday cake had left pink icing on the [seat|door rail], which was first "
                "taken for paint."
            ),
        ),
    ),
    Theme(
        "fog",
        ("fog",),
        ("weather", "history"),
        (
            "Fog [lay|had settled] over {place} [from dawn|all morning].",
            "The {craft} [entered|ran into] a bank of fog {few} minutes after [leaving|departure].",
            "The decision to go on in dense fog [was not challenged|went unchallenged].",
            "[Patches of fog|Sea fog] hid the [mark|threshold] until it was {dozen} metres away.",
            "The fog procedure of {operator} [asks for|demands] half speed, which was not [kept|observed].",
            "Neighbouring stations [reported|logged] fog at the time of the event.",
        ),
        (
            "The {lead} could [not see|hardly see] beyond the [wiper|front window].",
            "A grey wall [swallowed|had swallowed] the [lights|outline] of {place}.",
            "Low cloud had come down to the [rooftops|ground], and one could see for {dozen} metres at most.",
            (
                "[Mist|A thick mist] rose from the water and [wrapped|hid] everything below the "
                "[masthead|tower]."
            ),
            "Witnesses heard the {craft} [long before|well before] they could make out its shape.",
            (
                "With nothing outside to fix the eye on, the {lead} [lost|had lost] all sense of "
                "[distance|where {he} was]."
            ),
            (
                "[Through the murk|In the murk] the {mate} mistook a [street lamp|parked lorry] for the "
                "[beacon|signal]."
            ),
            "The camera image [shows|is] nothing but milk-white for the last {dozen} seconds.",
            "A man walking his dog [could not see|lost sight of] the far end of the lead in the haze.",
        ),
        (
            "That limits for fog be written down and [kept|enforced].",
            "That {operator} instal a fog detector at {place}.",
        ),
        (
            "That service stop when the far [mark|mast] at {place} can no longer be seen.",
            "That the {craft} be given [radar|a thermal camera] for days when eyes are of no use.",
            "That speed be fitted to how far the {lead} can see.",
        ),
        (
            "There was no fog; the far shore could be [counted|seen] tree by tree.",
            "The fog horn at {place} was being [painted|repainted] that week and was silent, as announced.",
            "A fog signal post stood [beside|near] the scene but belongs to [another|a disused] line.",
            (
                "Witness recollection was [patchy, a fog of shock|in a fog of shock] in the words of the "
                "psychologist."
            ),
        ),
    ),
    Theme(
        "night",
        ("night",),
        ("weather", "history"),
        (
            "The event [took place|occurred] at night, [with no moon|under a new moon].",
            "Night operations at {place} [rely on|depend on] {few} lamps, of which [one|two] worked.",
            "The {lead} had [little|next to no] recent experience of [working by night|night operations].",
            "At night the [shoreline|line] offers no [references|landmarks] to the eye.",
            "The night [service|schedule] had been added {few} months earlier without a risk assessment.",
            "Accidents by night are [over-represented|frequent] on this route.",
        ),
        (
            "It was [pitch dark|black as coal] outside, and the [lamps|lights] at {place} were out.",
            "The sun had set [four|five|six] hours before.",
            "[Darkness|The darkness] [hid|concealed] the obstacle until the headlamp found it.",
            "Dazzled by the [floodlights|headlamps] and then plunged into blackness, the {lead} saw nothing.",
            (
                "No moon, no stars, and [a shore without a lamp|an unlit slope]: the {lead} had [no "
                "horizon|nothing to go by]."
            ),
            (
                "The {lead}'s eyes had not yet [adapted|got used] to the dark after the bright [waiting "
                "room|hall]."
            ),
            "Searchers worked by torchlight until [dawn|the first light] showed them the {craft}.",
            "[Two thirds|Most] of the crew's work that month fell between dusk and dawn.",
            "water: A [black|dark] hull against a black [shore|quay] cannot be seen after sundown.",
        ),
        (
            "That {place} be lit properly at night or closed.",
            "That night qualifications be renewed every year.",
        ),
        (
            "That reflectors be fixed to [all obstacles|every obstacle] so that they show up after dark.",
            "That service end at dusk until the lamps at {place} are mended.",
            "That crews sit ten minutes in dimmed light before they go out into the dark.",
        ),
        (
            "It was broad daylight, a fortnight after the [timetable change|spring holiday].",
            "The [barge|works car] Knight Errant, which happened to pass, took off {dozen} people.",
            "Overnight guests at the [hotel|hostel] nearby helped with blankets the next day at noon.",
            "Passengers were put up for the night in a school after the daytime rescue.",
        ),
    ),
    Theme(
        "overload",
        ("overload",),
        ("vehicle", "survival"),
        (
            "The {craft} was overloaded by {dozen} per cent.",
            "Overloading [was usual|had become usual] on [market days|the {weekday} run].",
            "The overload [moved|brought] the centre of gravity beyond its limit.",
            "No one at {operator} [checked|was charged with checking] for overload before departure.",
            "The {part} was [never meant|not built] for the overload it [carried|had to bear].",
            "Counting from the ticket stubs [confirms|shows] an overload of [six|a handful of] persons.",
        ),
        (
            "There were {aboard} people on board and places for {seats}.",
            "[Crates|Sacks] of [cement|seed potatoes] stood in the aisle, none of them on the manifest.",
            "The {craft} [sat|hung] visibly lower than usual, a [porter|bystander] remarked.",
            (
                "Weighed afterwards, the [baggage|freight] came to {hundreds} kg more than the sheet "
                "[said|claimed]."
            ),
            "Passengers stood shoulder to shoulder, [even|also] on the [steps|roof of the engine casing].",
            "The attendant had [given up|stopped] counting when the queue [pushed|pressed] past the barrier.",
            "Too much weight had been stowed aft, and the {craft} answered [slowly|late] to every command.",
            (
                "The scales at {place} had been out of use [since spring|for {few} months], so loads were "
                "[guessed|estimated by eye]."
            ),
            (
                "The loading sheet assumed {dozen} kg a person; the wedding party's luggage was not "
                "[counted|on it at all]."
            ),
        ),
        (
            "That staff [refuse|be empowered to refuse] departure in case of overload.",
            "That a load cell give the {lead} notice of an overload.",
        ),
        (
            "That gates count those who [enter|board] and close when the last place is taken.",
            "That freight be put on a scale before it is put on board.",
            "That the maximum number of passengers be painted beside [each|every] door.",
        ),
        (
            (
                "The overload relay of the [kitchen|heating] circuit had tripped earlier, which is of no "
                "importance here."
            ),
            "The {craft} was loaded to [half|two thirds] of what it may carry, so an overload is excluded.",
            "Callers overloaded the [hospital's|newspaper's] switchboard for the rest of the day.",
        ),
    ),
    Theme(
        "evacuation",
        ("evacuat",),
        ("survival",),
        (
            "The evacuation [took|lasted] {dozen} minutes, [far longer|much longer] than the drill time.",
            "Evacuation was [hampered|held up] by a [jammed|blocked] emergency exit.",
            "Nobody gave the order to evacuate until {few} minutes [had gone by|after the stop].",
            "Passengers evacuated [on their own|without guidance], some of them [with|dragging] luggage.",
            (
                "The evacuation plan [did not consider|made no mention of] [wheelchairs|passengers unable "
                "to walk]."
            ),
            "Equipment for evacuation was stowed where [no one|nobody] could get at it.",
        ),
        (
            "People [kicked out|broke] a window because the door beside it would not open.",
            "The ladder [was|proved] {few} metres too short, so [those|the people] inside had to jump.",
            (
                "[For {dozen} minutes|For a long while] those on board [were told|heard] nothing and did "
                "not know which way to leave."
            ),
            "The way out was [blocked|barred] by [bicycles|a drinks trolley] and the queue stood still.",
            "A man in a wheelchair was the last to be [carried|brought] out, by strangers.",
            "Getting everybody off took {dozen} minutes, and smoke was [gaining|catching up] on them.",
            "The lifejackets lay in a locker whose key [hung|was kept] ashore.",
            "The escape slide [hung|remained] folded in its cover because the pin had never been pulled.",
            "Two exits led on to [a sheer drop|the wrong side], and the crew had to turn the crowd round.",
            "Lowering passengers on a rope, one by one, lasted until [evening|the early afternoon].",
        ),
        (
            "That an evacuation drill with [volunteers|real passengers] be held every year.",
            "That evacuation routes be [marked|lit] at floor level.",
        ),
        (
            "That every emergency door open [outwards|from inside] with one hand.",
            "That rescue ladders reach from the [door|cabin] to the ground at every point of the line.",
            "That attendants practise getting a full load of people off in [four|five] minutes.",
        ),
        (
            (
                "The chamber was evacuated to {few} millibars by a vacuum pump before the sample was "
                "[sealed|weighed]."
            ),
            "No evacuation was necessary, since [everyone|all] had already left in the normal way.",
            "The museum beside the scene keeps a plaque for those evacuated in the flood of 1931.",
        ),
    ),
)
