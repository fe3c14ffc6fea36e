"""Themes about people who were not fit for duty, in words."""

from __future__ import annotations

from assay_worlds.incidents.theme import Theme

CREW_THEMES = (
    Theme(
        "fatigue",
        ("fatigue",),
        ("personnel", "recorders"),
        (
            "The {lead}'s [reaction|handling of the moment] was consistent with [acute|cumulative] fatigue.",
            (
                "Fatigue [had degraded|very probably dulled] the judgement of the {lead} [late in|at the "
                "end of] a duty of [thirteen|fourteen|fifteen] hours."
            ),
            (
                "The roster [exposed|had exposed] the crew to fatigue that nobody [measured|had tried to "
                "measure]."
            ),
            "Interviews [left little doubt about|confirmed] the fatigue of both the {lead} and the {mate}.",
            "Fatigue risk [was not assessed|had not been looked at] when the {weekday} duty was lengthened.",
            (
                "The Board [rates|considers] crew fatigue [a weighty factor|as more than a background "
                "condition]."
            ),
        ),
        (
            "The {lead} had been awake for [17|18|19|20|21] hours [when the alarm came|by then].",
            (
                "It was {his} [third|fourth|fifth] late shift in a row, and {he} [had slept|remembered "
                "sleeping] [three|four] hours before it."
            ),
            (
                "{His} eyelids, {he} told the investigators, [kept closing|were heavy as lead] [after the "
                "turn|from then on]."
            ),
            "The {mate} [found|had found] the {lead} nodding at the controls {few} minutes [before|earlier].",
            (
                "Between the two duties lay [six|seven] hours, of which [more than two|nearly three] went "
                "on the drive home and back."
            ),
            (
                "The {lead} [had a second job|drove a delivery van] by day and [rarely|seldom] went to bed "
                "before dawn."
            ),
            "A newborn at home [had kept|kept] the {lead} from unbroken sleep for [weeks|most of {month}].",
            (
                "[Yawning|Long yawns] can be heard {few} times [on the tape|in the recording] during the "
                "last quarter of an hour."
            ),
            (
                "The body clock of anybody at that hour, after {dozen} days without a day off, [asks for "
                "bed|is at its lowest]."
            ),
            (
                "[Micro-sleeps|Short lapses into sleep] would [explain|account for] the {dozen} seconds "
                "without any input."
            ),
        ),
        (
            (
                "That {operator} [introduce|set up] a fatigue management scheme and [report|publish] its "
                "results."
            ),
            "That fatigue be [counted among|listed with] the hazards that a roster is checked against.",
        ),
        (
            "That {operator} guarantee [ten|eleven] hours in bed between two turns of duty.",
            "That planners stop lining up more than [two|three] late shifts one after another.",
            (
                "That anybody who feels [unable to stay awake|too drowsy to go on] may step down without "
                "loss of pay."
            ),
        ),
        (
            "Sleep diaries were [complete|in order], and fatigue was [ruled out|excluded] as a factor.",
            "Metal fatigue was [looked for|suspected] in the [bolts|springs] and [not found|excluded].",
            (
                "[Anti-fatigue|So-called anti-fatigue] rubber mats had been laid in the {deck} for comfort "
                "underfoot."
            ),
            (
                "A fatigue test of the [spare|replacement] spring was stopped after {thousands} cycles "
                "without result."
            ),
        ),
    ),
    Theme(
        "alcohol",
        ("alcohol", "intoxicat"),
        ("personnel", "tests"),
        (
            (
                "The [blood|breath] sample of the {lead} contained alcohol at [twice|three times] the "
                "permitted level."
            ),
            "[Intoxication|Alcohol intoxication] of the {lead} [impaired|had impaired] both aim and timing.",
            (
                "The {mate} [smelt|had smelt] alcohol [at the start of the shift|on the {lead}] and [said "
                "nothing|kept it to himself]."
            ),
            (
                "Alcohol consumed [the evening before|during the lay-over] had not [left the body|worn "
                "off] by the time of departure."
            ),
            (
                "A [half-empty|nearly empty] bottle found in the {deck} and the toxicology report both "
                "point to alcohol."
            ),
            "{operator} carried out no random alcohol tests in the {few} years before the accident.",
        ),
        (
            (
                "The {lead} had been [drinking|seen drinking] schnapps in the canteen until [an "
                "hour|shortly] before the shift."
            ),
            (
                "Toxicology found [1.1|1.4|0.9|1.6] per mille in the {lead}'s blood [two|three] hours "
                "after the event."
            ),
            (
                "[Witnesses|Two passengers] [described|recalled] slurred speech and an unsteady walk as "
                "the {lead} came aboard."
            ),
            "The {lead} was [hung over|still drunk] from a wedding that [had ended|broke up] at dawn.",
            (
                "Traces of [cannabis|a strong sedative] were found in the {lead}'s [urine|sample]; {he} "
                "had told nobody."
            ),
            (
                "The {lead} had swallowed [a double dose|{few} tablets] of a cold remedy that carries a "
                "drowsiness label."
            ),
            (
                "[Colleagues|Several colleagues] knew of the flask in {his} locker and [covered "
                "for|protected] {him}."
            ),
            "The receipt in {his} pocket listed {few} pints of stout, [paid|settled] at noon that day.",
            (
                "The {lead} was not sober: [a breathalyser|the police instrument] showed [0.7|0.8|1.2] at "
                "the hospital."
            ),
        ),
        (
            "That {operator} test crews for alcohol at random and [without notice|at the start of duty].",
            (
                "That the alcohol limit of zero [apply|be extended] to [attendants|everybody with a safety "
                "duty]."
            ),
        ),
        (
            (
                "That supervisors [look each|look every] crew member in the eye at sign-on and send home "
                "those not sober."
            ),
            (
                "That a confidential programme help staff who drink [more than they should|to get through "
                "the week]."
            ),
            "That crews ask a doctor before combining duty with [sedating|strong] medicines.",
        ),
        (
            "Tests for alcohol and drugs, taken [within the hour|the same day], were negative.",
            (
                "Isopropyl alcohol was used to [clean|wipe] the lens of the [camera|sensor] before it was "
                "photographed."
            ),
            (
                "The compass [card|bowl] floats in alcohol, and a small bubble in it was [normal|of no "
                "importance]."
            ),
            "The kiosk [lost|surrendered] its licence to sell alcohol after an unrelated complaint.",
        ),
    ),
    Theme(
        "incapacitation",
        ("incapacitat",),
        ("personnel", "survival"),
        (
            "The {lead} became incapacitated [without any sign beforehand|within seconds].",
            "Sudden incapacitation of the {lead} left the {craft} without [control|anyone in command].",
            "The post-mortem [supports|favours] a cardiac cause for the incapacitation.",
            "No drill [covered|dealt with] the incapacitation of a person working alone.",
            "A vigilance device would have detected the incapacitation [within|after] {dozen} seconds.",
            (
                "The medical examiner [had noted|noted] a risk of incapacitation {few} years before and "
                "[attached no condition|passed {him} fit]."
            ),
        ),
        (
            "The {lead} slumped over the controls [in mid-sentence|without a word] and did not answer.",
            "A stroke [felled|had struck] the {lead} {few} minutes after [leaving|the start].",
            "The {lead} [clutched|grasped] {his} chest, [muttered|said] something and slid from the seat.",
            (
                "Carbon monoxide from a [leaking|split] heater put the {lead} to sleep [unawares|before "
                "{he} noticed]."
            ),
            (
                "An epileptic fit, {his} first [as far as is known|on record], seized the {lead} at the "
                "controls."
            ),
            "The {mate} had to [drag|pull] the unconscious {lead} off the lever.",
            "The {lead} fainted; [low blood sugar|an undiagnosed heart condition] is the likely reason.",
            (
                "From that moment nobody was at the controls: the {lead} lay [senseless|unresponsive] on "
                "the floor."
            ),
            (
                "[Arteries narrowed|Coronary arteries narrowed] to a quarter were found at the autopsy of "
                "the {lead}."
            ),
        ),
        (
            "That every crew rehearse the incapacitation of its {lead}.",
            "That the {craft} be fitted with a device that acts on incapacitation.",
        ),
        (
            "That a dead man's pedal stop the {craft} when the person at the controls passes out.",
            "That medical examinations of crew over fifty include [a stress electrocardiogram|a heart scan].",
            "That gas detectors be fitted where exhaust could [reach|overcome] the crew.",
        ),
        (
            "There was no evidence of incapacitation of [any|either] crew member.",
            "The storm had incapacitated the [regional telephone exchange|ticket office] two days earlier.",
            "The fall incapacitated [one of the sniffer dogs|the recording drone] of the search team.",
        ),
    ),
)
