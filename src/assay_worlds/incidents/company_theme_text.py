"""Themes about companies, authorities and how people work together, in words."""

from __future__ import annotations

from assay_worlds.incidents.theme import Theme

COMPANY_THEMES = (
    Theme(
        "warning",
        ("warning",),
        ("recorders", "history"),
        (
            "The warning sounded for {dozen} seconds and was [ignored|not acted on].",
            "Three earlier warnings about the {part} had been [filed|put aside].",
            "The {lead} [cancelled|silenced] the warning and carried on.",
            "The crew failed to respond to the warning [lamp|horn] in time.",
            "False warnings had been so [frequent|common] that nobody [believed|heeded] this one.",
            "The warning from {dispatcher} was acknowledged but [not followed|had no effect].",
        ),
        (
            "The buzzer had been [taped over|muffled with a cloth] because it went off so often.",
            "A red lamp burned on the panel for {few} minutes; [nobody|neither of them] reacted.",
            "The {mate} said twice that something was wrong; the {lead} [waved it away|answered 'later'].",
            (
                "[Letters|Two letters] from a retired engineer about exactly this danger lay unopened in a "
                "drawer."
            ),
            "The alarm rang, was reset, rang again, and was [switched off|reset] a second time.",
            (
                "The horn can be heard [on the tape|throughout], together with the {lead}'s remark that it "
                "is always doing that."
            ),
            (
                "{dispatcher} called {few} times to say that the {craft} was standing into danger, and was "
                "told to wait."
            ),
            (
                "{person} had written in {month} that it was a matter of time; the note [came back|was "
                "returned] unread."
            ),
            (
                "The gauge had been in the red since [the first stop|morning], which all on duty took for "
                "a fault of the gauge."
            ),
        ),
        (
            "That a warning which sounds [twice|repeatedly] lead to a stop, whatever its cause.",
            "That {operator} keep a register of warnings and what was done about them.",
        ),
        (
            "That alarms be cured of false triggers, so that people believe them again.",
            "That crews be bound to halt as soon as the red lamp lights.",
            "That letters from staff about dangers be answered within a week.",
        ),
        (
            (
                "A warning sign at the quay, knocked down years ago, had nothing to do with the course of "
                "events."
            ),
            "The advertisement on the side of the {craft} reads 'Warning: hot soup'.",
            "Gale warnings were in force for [other|more distant] waters only.",
            "No warning was given because there was nothing to give it: the event was without precursors.",
        ),
    ),
    Theme(
        "communication",
        ("communicat",),
        ("recorders", "history"),
        (
            "Communication between the {deck} and {dispatcher} [broke down|failed] at a decisive moment.",
            "A miscommunication about the [track|berth] number [sent|put] the {craft} in the wrong place.",
            (
                "Poor communication within the crew [meant|had the result] that each thought the other had "
                "acted."
            ),
            "The language barrier hampered communication with [the deckhands|half of the staff].",
            "Communications were on the wrong [channel|frequency] for {few} minutes.",
            "The handover was communicated [orally|by word of mouth] and left out the open fault.",
        ),
        (
            "{dispatcher} said 'hold'; the {lead} [heard|understood] 'go'.",
            "Each of the two believed that the other had [set|secured] the {part}.",
            (
                "The message was cut short by another [speaker|transmission], and its second half, 'not "
                "before the other has cleared', was lost."
            ),
            "The {mate} knew about the obstruction and assumed that the {lead} knew as well.",
            "The read-back was wrong, and {dispatcher} let it [pass|stand].",
            "At the change of shift no word was said about the [open|disconnected] {part}.",
            "The radio in the {deck} was tuned to [last season's|the neighbouring harbour's] frequency.",
            "{person} [shouted|called] in a tongue that the others on the platform did not speak.",
            "A nod was taken for consent [although|though] it was meant as a greeting.",
        ),
        (
            "That communication with {dispatcher} follow a fixed phraseology.",
            "That crew communication be part of each yearly check.",
        ),
        (
            "That each instruction by radio be repeated word for word before it is carried out.",
            (
                "That the shift that leaves write down what is unfinished and talk it through with the one "
                "that comes."
            ),
            "That all on duty share one working language.",
        ),
        (
            "The communications mast on the hill [served|serves] as a landmark for the survey.",
            "The Ministry of Communications [lent|provided] the drone for the aerial photographs.",
            "Radio communication was clear and correct throughout.",
        ),
    ),
    Theme(
        "training",
        ("training",),
        ("personnel", "organisation"),
        (
            "The {lead}'s training did not [include|cover] this situation.",
            "Recurrent training had been [cancelled|shortened] for want of money.",
            "Training records [show|list] {few} hours where the syllabus asks for {dozen}.",
            "The Board found the training of [attendants|deck and cabin staff] [inadequate|insufficient].",
            "No simulator training is [offered|available] for the {model}.",
            "The instructor had no training [on|for] the {model} {himself}.",
        ),
        (
            "The {lead} had never [practised|tried] the manoeuvre, not even on paper.",
            "Nobody had shown the {mate} where the emergency lever is.",
            "{He} learned the {model} by [watching|standing behind] a colleague for {few} days.",
            "The newcomer was left alone at the controls on {his} [second|third] day.",
            "The last time the crew rehearsed such a failure was [six|seven|eight] years ago.",
            "The examiner [ticked|passed] {dozen} exercises in [twenty|thirty] minutes.",
            (
                "Asked how to release the {part} by hand, [nine out of ten|four out of five] of the staff "
                "could not say."
            ),
            "The {lead} did what one does in the older type, which in the {model} makes matters worse.",
            "The course consisted of a booklet and a signature.",
        ),
        (
            "That {operator} extend its training to failures of the {part}.",
            "That training be [checked|observed] by an outside examiner.",
        ),
        (
            "That every new {lead} be accompanied for at least {dozen} days.",
            "That crews rehearse, with their own hands, what to do when the {part} fails.",
            "That the examiner's list be shortened to what can honestly be tested in a day.",
        ),
        (
            "The training wall along the river channel was not touched.",
            "A training film for [ushers|tour guides] was being shot at {place} on the same {weekday}.",
            "The {lead}'s training and currency were [exemplary|beyond reproach].",
            "Members of a football club on the way to training were among those who helped.",
        ),
    ),
    Theme(
        "oversight",
        ("oversight",),
        ("organisation",),
        (
            "Regulatory oversight of {operator} was [weak|confined to paper].",
            "The Inspectorate's oversight [had not noticed|overlooked] {few} years of shortcuts.",
            "Oversight of small operators in {region} [rests with|falls to] {few} inspectors.",
            "Lack of oversight [allowed|permitted] the practice to [take root|become normal].",
            "The oversight programme [checks|checked] documents, never the work itself.",
            "Responsibility for oversight had been [split|divided] between two offices since the reform.",
        ),
        (
            "The Inspectorate renewed the licence [without|unseen, without] a visit.",
            (
                "The last inspector to set foot on the premises [did so|came] {few} years ago and stayed "
                "for lunch."
            ),
            "The authority relied on what {operator} wrote about itself.",
            (
                "{few} open findings from the Inspectorate's audit were closed by [e-mail|telephone], no "
                "proof asked."
            ),
            "The exemption was granted in a day and [never looked at again|extended {few} times].",
            "The inspector in charge had worked for {operator} until [the year before|recently].",
            (
                "Nobody in the ministry [could say|was able to tell] which department approves such "
                "installations."
            ),
            (
                "The rule that would have required a second [lock|crew member] had been struck out at the "
                "industry's request."
            ),
            "For {region} as a whole the authority had one [inspector|car], and {dozen} companies to watch.",
        ),
        (
            "That the Inspectorate strengthen its oversight of operators of this size.",
            "That one office be charged with oversight.",
        ),
        (
            "That inspectors come unannounced and look at the work, not at the folder.",
            "That the authority not renew a licence before somebody has been on the spot.",
            "That no inspector be assigned to a former employer.",
        ),
        (
            "By an oversight of the printer, two photographs in the appendix are [mirrored|swapped].",
            "A clerical oversight [left|had left] the lost-property list unsigned, without consequence.",
            "Oversight by the Inspectorate was frequent and thorough, and gave no ground for criticism.",
        ),
    ),
    Theme(
        "pressure",
        ("pressure",),
        ("organisation", "history"),
        (
            "Schedule pressure [weighed on|drove] the {lead}'s decision to leave.",
            "Commercial pressure led {operator} to [accept|tolerate] departures without checks.",
            "The {lead} felt pressure from the [office|management] to make up {dozen} minutes.",
            "Time pressure [left no room|was the reason] for the shortened check.",
            "A bonus for punctuality put pressure on every crew.",
            "The Board was told of pressure not to [report|write up] faults.",
        ),
        (
            "The {craft} was {dozen} minutes late, and the office [had called|rang] {few} times to ask why.",
            "Crews that arrived late lost their bonus, and [everybody|all of them] knew it.",
            "'If you won't go, somebody else will,' the [manager|duty manager] had said.",
            "The checklist was skipped to keep the connection with the [express|last bus].",
            "The turn-round allowed {few} minutes for work that takes a quarter of an hour.",
            (
                "{operator} [stood|was] weeks from insolvency, and each cancelled trip was money it did "
                "not have."
            ),
            (
                "Hurrying to be home for the [wedding|festival], the {lead} left without waiting for the "
                "all-clear."
            ),
            "The tour group threatened to [demand its money back|sue], and the {lead} gave in.",
            (
                "The timetable had been tightened in {month}, {few} minutes a leg, without asking those "
                "who [work|keep] it."
            ),
        ),
        (
            "That {operator} remove the bonus that puts crews under pressure.",
            "That nobody be put under pressure for a delay on grounds of safety.",
        ),
        (
            "That the timetable be drawn up with those who have to keep it.",
            "That a {lead} who refuses to leave be thanked and not questioned.",
            "That turn-rounds be lengthened until the checklist fits into them.",
        ),
        (
            "Barometric pressure was [steady|rising slowly] at 10{teens} hectopascals.",
            "The tyre pressure of the [fire engine|ambulance] had to be corrected on arrival.",
            "Oil pressure was [normal|within limits] until the end of the recording.",
            "The {lead} was ahead of time and under no pressure of any kind.",
        ),
    ),
)
