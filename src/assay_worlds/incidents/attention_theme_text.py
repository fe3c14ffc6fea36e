"""Themes about where attention was, in words."""

from __future__ import annotations

from assay_worlds.incidents.theme import Theme

ATTENTION_THEMES = (
    Theme(
        "distraction",
        ("distract",),
        ("history", "recorders"),
        (
            "The {lead} was distracted by [a private conversation|a mobile telephone] for {dozen} seconds.",
            "Distraction [by a passenger|in the {deck}] [drew|took] attention away at the worst moment.",
            (
                "Non-essential talk [distracted|had distracted] the {lead} and the {mate} from the "
                "[lookout|instruments]."
            ),
            (
                "The Board [sees|identified] distraction as the reason why the [signal|mark] was passed "
                "unnoticed."
            ),
            "A sterile {deck} rule, meant to [prevent|keep out] distraction, [existed|stood] on paper only.",
            (
                "[Portable devices|Personal telephones] are a known source of distraction and were "
                "[tolerated|common]."
            ),
        ),
        (
            "The {lead} was reading a text message [as|while] the {craft} closed on the [obstacle|danger].",
            "{few} outgoing messages left the {lead}'s phone in the [last|final] two minutes.",
            (
                "The {mate} and the {lead} were [arguing|chatting] about football [scores|results] and "
                "neither looked ahead."
            ),
            "A [visitor|friend] stood in the {deck} telling a long story, against the house rules.",
            (
                "{He} had turned round to [look for|pick up] a dropped [thermos|pair of spectacles] when "
                "it happened."
            ),
            "For {dozen} seconds the {lead}'s eyes were on a [video clip|crossword], not on the way ahead.",
            "The {lead} was [filling in|completing] the takings sheet on {his} knee at the time.",
            "A child [had wandered|wandered] into the {deck}, and everyone's gaze went to the child.",
            (
                "The {lead}'s mind was [elsewhere|at home]: a call about a family quarrel had [just "
                "ended|come in]."
            ),
        ),
        (
            "That telephones, as a source of distraction, be [left outside|locked away from] the {deck}.",
            "That {operator} audit how well its distraction rules are [kept|observed].",
        ),
        (
            "That private phones stay in a locker while the {craft} is moving.",
            (
                "That nobody enter the {deck} or talk to the {lead} [in confined waters|close to a stop] "
                "except on duty."
            ),
            "That paperwork be [done|finished] at a standstill and never with the hands on the controls.",
        ),
        (
            "Telephone records showed no use, and distraction could be [ruled out|excluded].",
            (
                "The surgeon's report speaks of distraction of the [broken thigh bone|fracture ends] by "
                "[several|{few}] millimetres."
            ),
            (
                "Attendants [used|offered] colouring books to distract the [children|younger passengers] "
                "during the wait for rescue."
            ),
        ),
    ),
    Theme(
        "automation",
        ("automat",),
        ("recorders", "tests"),
        (
            "The crew [misread|lost track of] the mode in which the automation was working.",
            "Over-reliance on automation [had eroded|eroded] the {lead}'s manual skill.",
            (
                "The automatic [speed|track] hold had [dropped out|disengaged], and nobody noticed for "
                "{dozen} seconds."
            ),
            "Confusion about the automatic mode [delayed|held up] the right response by {dozen} seconds.",
            "The annunciation of automation modes on the panel is [ambiguous|small and ambiguous].",
            (
                "The {lead} expected the automation to [slow|level] the {craft}, which it was not "
                "[set|armed] to do."
            ),
        ),
        (
            (
                "The {lead} believed that the computer was still [steering|in charge] when it had handed "
                "control back."
            ),
            (
                "[What is it doing now?|Why is it doing that?] is the {lead}'s last clear remark about the "
                "panel."
            ),
            (
                "A [green|white] letter {few} millimetres high was the only sign that the [speed|track] "
                "keeper had let go."
            ),
            (
                "{He} pressed the [hold|resume] button twice and thereby [armed|selected] the opposite of "
                "what {he} wanted."
            ),
            "The {lead} [fought|pulled against] the servo, not knowing that it was [engaged|switched in].",
            (
                "The {mate} typed the wrong leg into the guidance box and [both|the two] followed it "
                "without a glance outside."
            ),
            (
                "Used to letting the machine do the work, the {lead} [was slow|hesitated] to take hold "
                "when it quit."
            ),
            (
                "The screen said STBY; [neither|none] of the crew could tell the investigators what that "
                "[meant|stood for]."
            ),
            (
                "The controller [reverted|had reverted] to its basic setting after a power dip, and the "
                "people at the desk did not know."
            ),
        ),
        (
            "That automation modes be shown [in full words|in plain words] in the {lead}'s field of view.",
            "That crews practise without automation once a month.",
        ),
        (
            "That the panel [sound a tone|speak aloud] when the machine gives control back to the human.",
            "That crews steer by hand for part of every week, so that the skill is not lost.",
            "That the maker simplify the buttons by which the guidance box is set.",
        ),
        (
            "The automatic doors of the [waiting room|terminal] were out of order that {weekday}.",
            "Tickets are sold by automatic machines, whose records [helped|served] to count those on board.",
            (
                "Automation of the [company's payroll|timetable leaflets] was under way and has no bearing "
                "on the event."
            ),
        ),
    ),
)
