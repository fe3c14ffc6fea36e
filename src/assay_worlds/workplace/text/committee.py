"""How pages about the committees are worded."""

from __future__ import annotations

from assay_worlds.workplace.kind import Kind, Relation
from assay_worlds.workplace.text.committee_prose import PROSE

COMMITTEE = Kind(
    "committee",
    ("committee", "committees"),
    (
        "Terms of reference of the {subject}",
        "The {subject} in brief",
        "Constitution of the {subject}",
        "About the {subject}",
    ),
    (
        Relation(
            "committee.chair",
            (
                "The {subject} is chaired by {value}.",
                "{value} holds the chair of the {subject}.",
                "In the chair of the {subject} sits {value}.",
                "Members of the {subject} elected {value} to the chair.",
                "Meetings of the {subject} are presided over by {value}.",
            ),
            "chair {of}",
            (
                "Who chairs the {of}?",
                "Who holds the chair of the {of}?",
                "Who presides over the {of}?",
            ),
            (
                "Who heads the {of}?",
                "Whose word is last in the {of}?",
                "Who sits at the top of the table in the {of}?",
            ),
            gives="person",
            phrase="the chair of the {of}",
            listing="Which committees are chaired by {value}?",
            section="Members",
        ),
        Relation(
            "committee.quorum",
            (
                "The quorum of the {subject} is {value}.",
                "The {subject} can decide when {value} are present.",
                "With fewer than {value} in the room, the {subject} may talk but not vote.",
                "{value} make a valid sitting of the {subject}.",
                "A vote of the {subject} counts only if {value} take part.",
            ),
            "quorum {of}",
            (
                "What is the quorum of the {of}?",
                "How many members must be present for the {of} to decide?",
                "How many members make a valid sitting of the {of}?",
            ),
            (
                "How many people does it take for the {of} to settle something?",
                "How empty may the seats be before the {of} has to go home?",
                "How many hands are needed in the {of} for a lawful result?",
            ),
            value="<3..16> members",
            phrase="the quorum of the {of}",
            compare="Which has the larger quorum, the {a} or the {b}?",
            section="Rules",
        ),
        Relation(
            "committee.meets",
            (
                "The {subject} meets {value}.",
                "Sittings of the {subject} take place {value}.",
                "How often the {subject} comes together is laid down as {value}.",
                "The calendar shows the {subject} {value}.",
                "By its own rules, the {subject} convenes {value}.",
            ),
            "meeting frequency {of}",
            (
                "How often does the {of} meet?",
                "At what interval do sittings of the {of} take place?",
                "How often does the {of} convene?",
            ),
            (
                "How long do I wait at worst until the {of} talks about my case?",
                "How frequent are the gatherings of the {of}?",
                "In what rhythm do the people of the {of} see each other?",
            ),
            value="[every week|every fortnight|once a month|every two months|once a quarter|twice a year]",
            phrase="the meeting frequency of the {of}",
            listing="Which committees meet {value}?",
            section="Rules",
        ),
        Relation(
            "committee.secretary",
            (
                "The secretary of the {subject} is {value}.",
                "{value} keeps the minutes of the {subject}.",
                "Papers for the {subject} are handed in to {value}, its secretary.",
                "As secretary, {value} invites the {subject} and writes up what it decides.",
                "The pen of the {subject} is in the hand of {value}.",
            ),
            "secretary {of}",
            (
                "Who is the secretary of the {of}?",
                "Who keeps the minutes of the {of}?",
                "To whom are papers for the {of} handed in?",
            ),
            (
                "Who takes notes in the {of}?",
                "Whom do I mail to get a topic before the {of}?",
                "Who does the paperwork for the {of}?",
            ),
            gives="person",
            phrase="the secretary of the {of}",
            section="Members",
        ),
        Relation(
            "committee.founded",
            (
                "The {subject} was founded in {value}.",
                "It was in {value} that the {subject} came into being.",
                "The {subject} goes back to {value}.",
                "The charter of the {subject} is dated {value}.",
                "Since its first sitting in {value}, the {subject} has changed little.",
            ),
            "founding year {of}",
            (
                "In what year was the {of} founded?",
                "When did the {of} come into being?",
                "What year is the charter of the {of} dated?",
            ),
            (
                "From what year is the {of}?",
                "Since when do we have the {of}?",
                "When was the {of} called to life?",
            ),
            value="<1994..2022>",
            phrase="the founding year of the {of}",
            listing="Which committees were founded in {value}?",
            compare="Which was founded later, the {a} or the {b}?",
            section="History",
        ),
    ),
    PROSE,
    names=(
        (
            "[Laser|Workplace|Radiation|Fire|Traffic|Chemical|Machine|Field|Laboratory|Travel] Safety [Board|"
            "Committee|Council|Panel|Forum]"
        ),
        (
            "[Calibration|Firmware|Packaging|Pricing|Patent|Sampling|Archive|Energy|Ethics|Naming|"
            "Translation|Training|Procurement|Accessibility|Sensor|Cloud|Interface|Brand|Export|Waste|"
            "Catering|Pension|Mobility|Innovation|Apprenticeship] [Review|Steering|Advisory|Standards|"
            "Coordination] [Board|Committee|Council|Panel|Group]"
        ),
        (
            "[Nordic|Coastal|Alpine|Western|Eastern|Southern|Baltic|Atlantic|Central|Island] [Works|Sites|"
            "Sales|Service|Quality|Staff] [Board|Committee|Council|Panel|Assembly]"
        ),
    ),
)
