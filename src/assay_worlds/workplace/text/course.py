"""How course pages of the training calendar are worded."""

from __future__ import annotations

from assay_worlds.workplace.kind import Kind, Relation
from assay_worlds.workplace.text.course_prose import PROSE

COURSE = Kind(
    "course",
    ("course", "courses"),
    (
        "{subject}: course page",
        "Training calendar: {subject}",
        "About the course {subject}",
        "{subject} at a glance",
    ),
    (
        Relation(
            "course.trainer",
            (
                "{subject} is taught by {value}.",
                "The trainer for {subject} is {value}.",
                "{value} stands at the front when {subject} is given.",
                "As instructor, {value} prepares and delivers {subject}.",
                "Participants of {subject} are in the hands of {value}.",
            ),
            "trainer {of}",
            (
                "Who is the trainer for {of}?",
                "By whom is {of} taught?",
                "Who delivers {of} as instructor?",
            ),
            (
                "Whose lesson is {of}?",
                "From which colleague would I learn something in {of}?",
                "Who explains things to the group in {of}?",
            ),
            gives="person",
            phrase="the trainer for {of}",
            listing="Which courses are taught by {value}?",
            section="People",
        ),
        Relation(
            "course.length",
            (
                "{subject} runs for {value} in all.",
                "The length of {subject} is {value}, breaks included.",
                "Plan {value} for {subject}.",
                "From welcome to farewell, {subject} takes {value}.",
                "{value} of teaching make up {subject}.",
            ),
            "length hours {of}",
            (
                "How many hours does {of} run?",
                "What is the length of {of}?",
                "How many hours of teaching make up {of}?",
            ),
            (
                "How much of my week would {of} eat up?",
                "For how long will I be away from my desk because of {of}?",
                "How big a chunk of time should I block for {of}?",
            ),
            value="<3..48> hours",
            phrase="the length of {of}",
            compare="Which runs longer, {a} or {b}?",
            section="Format",
        ),
        Relation(
            "course.credits",
            (
                "Completing {subject} earns {value}.",
                "{subject} is worth {value} in the training record.",
                "{value} are booked to those who pass {subject}.",
                "The academy rates {subject} at {value}.",
                "Graduates of {subject} collect {value}.",
            ),
            "credits {of}",
            (
                "How many credits does {of} earn?",
                "How many credits is {of} worth in the training record?",
                "At how many credits does the academy rate {of}?",
            ),
            (
                "How many points towards my diploma does {of} bring?",
                "What do I get on my learning account for {of}?",
                "How much does {of} count for my yearly quota?",
            ),
            value="<2..36/2> credits",
            phrase="the number of credits for {of}",
            compare="Which earns more credits, {a} or {b}?",
            section="Recognition",
        ),
        Relation(
            "course.format",
            (
                "{subject} is held as {value}.",
                "The format chosen for {subject} is {value}.",
                "Those who enrol in {subject} should expect {value}.",
                "In terms of setting, {subject} means {value}.",
                "{subject} takes the shape of {value}.",
            ),
            "format {of}",
            (
                "In what format is {of} held?",
                "Which shape does {of} take?",
                "What setting should those who enrol in {of} expect?",
            ),
            (
                "Do I have to travel for {of}, or how does it work?",
                "How is the teaching in {of} organised?",
                "Can I follow {of} from home, or what is the arrangement?",
            ),
            value=(
                "[classroom sessions|live webinars|self-paced modules|shadowing on the job|evening "
                "seminars|a residential block]"
            ),
            phrase="the format of {of}",
            listing="Which courses are held as {value}?",
            section="Format",
        ),
        Relation(
            "course.audience",
            (
                "{subject} is meant for {value}.",
                "The audience of {subject} is {value}.",
                "Places on {subject} are reserved for {value}.",
                "{subject} was designed around the needs of {value}.",
                "It is {value} whose members are sent to {subject}.",
            ),
            "audience {of}",
            (
                "Which team is {of} meant for?",
                "Which team is the audience of {of}?",
                "For whom are places on {of} reserved?",
            ),
            (
                "Who is supposed to sit in {of}?",
                "Whose people go to {of}?",
                "Which group had {of} made for it?",
            ),
            gives="team",
            phrase="the audience of {of}",
            listing="Which courses are meant for {value}?",
            section="People",
        ),
    ),
    PROSE,
    names=(
        (
            "[Introduction to|Foundations of|Practical|Advanced|Refresher in|Workshop on|Essentials "
            "of|Hands-on|Beyond] [Uncertainty Budgets|Pressure Measurement|Fume Hood Safety|Firmware "
            "Testing|Technical Writing|Supplier Audits|Thermal Imaging|Negotiation|Statistical "
            "Sampling|Soldering|Ladder Safety|Data Protection|Project Costing|Vibration Analysis|Customer "
            "Visits|First Aid|Calibration Law|Flow Metering|Export Papers|Public Speaking|Incident "
            "Command|Laser Safety|Spreadsheet Modelling|Root Cause Analysis|Lean Assembly|Clean Room "
            "Conduct|Optical Alignment|Network Basics|Patent Reading|Cable Making]"
        ),
        (
            "[Introduction to|Foundations of|Practical|Advanced|Refresher in|Workshop on|Essentials "
            "of|Hands-on|Beyond] [Humidity Sensing|Torque Methods|Change Control|Report Design|Radio "
            "Approval|Packaging Tests|Mentoring|Budget Reading|Query Writing|Crane Signals|Battery "
            "Handling|Interview Technique|Gas Detection|Adhesives|Scheduling|Conflict Talks|Probe "
            "Repair|Surface Finish|Reference Standards|Acoustics]"
        ),
    ),
)
