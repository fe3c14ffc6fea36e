"""Pages on people: where they belong, and how to reach them."""

from __future__ import annotations

from assay_worlds.organisation.vocabulary import MONTHS
from assay_worlds.workplace.kind import Kind, Relation
from assay_worlds.workplace.text.person_prose import PROSE

_MONTH = f"[{'|'.join(MONTHS)}]"

TEAM = Relation(
    "person.team",
    (
        "{subject} works in {value}.",
        "Within Norrvik, {subject} is a member of {value}.",
        "The staff list carries {subject} under {value}.",
        "Tasks come to {subject} through {value}, the team to which the post belongs.",
        "As an employee of {value}, {subject} takes part in that team's meetings.",
        "{value} counts {subject} among its people.",
    ),
    "{of} team member",
    (
        "Which team does {of} work in?",
        "What team is {of} a member of?",
        "To which team does {of} belong?",
    ),
    (
        "Whose group is {of} part of?",
        "Which department should I look in to find {of}?",
        "With which bunch of colleagues does {of} share the load?",
    ),
    gives="team",
    phrase="the team of {of}",
    listing="Which people work in {value}?",
    section="Position",
)
MANAGER = Relation(
    "person.manager",
    (
        "{subject} reports to {value}.",
        "The manager of {subject} is {value}.",
        "Leave and expenses of {subject} are approved by {value}, the line manager.",
        "In the reporting line, {value} stands directly above {subject}.",
        "{value} holds the yearly appraisal with {subject} as direct superior.",
        "Anything that {subject} may not decide alone goes up to {value}.",
    ),
    "{of} manager reports to",
    (
        "Who is the manager of {of}?",
        "Who does {of} report to?",
        "Which line manager is responsible for {of}?",
    ),
    (
        "Who is the boss of {of}?",
        "Whom would I ask for permission to borrow {of} for a month?",
        "Who is one step up the hierarchy from {of}?",
    ),
    gives="person",
    phrase="the manager of {of}",
    listing="Who reports to {value}?",
    section="Position",
)
DEPUTY = Relation(
    "person.deputy",
    (
        "{value} deputises for {subject} during absences.",
        "The deputy of {subject} is {value}.",
        "While {subject} is away, {value} signs in the same capacity.",
        "{subject} has named {value} as stand-in.",
        "Absence cover for {subject} lies with {value}.",
        "In urgent matters that cannot wait for {subject}, {value} acts instead.",
    ),
    "{of} deputy absence",
    (
        "Who is the deputy of {of}?",
        "Who deputises for {of} during absences?",
        "Which colleague is named as stand-in for {of}?",
    ),
    (
        "Who fills in when {of} is on holiday?",
        "If {of} is ill, who takes the decisions?",
        "Whom do I turn to when {of} cannot be reached?",
    ),
    gives="person",
    phrase="the deputy of {of}",
    section="Position",
)
OFFICE = Relation(
    "person.office",
    (
        "{subject} is based at the {value} office.",
        "The desk of {subject} stands in {value}.",
        "{value} is the place of work named in the contract of {subject}.",
        "Post for {subject} is addressed to the {value} office.",
        "{subject} belongs to the workforce of the office in {value}.",
        "On ordinary days {subject} can be found at Norrvik's office in {value}.",
    ),
    "{of} office location",
    (
        "Which office is {of} based at?",
        "In which office does {of} have a desk?",
        "At which of Norrvik's offices is the place of work of {of}?",
    ),
    (
        "Which town should I travel to if I want to meet {of}?",
        "Where does {of} go to work every morning?",
        "In what city would I knock on the door of {of}?",
    ),
    gives="office",
    phrase="the office of {of}",
    listing="Who is based at the {value} office?",
    section="Contact",
)
EXTENSION = Relation(
    "person.extension",
    (
        "{subject} answers the phone on extension {value}.",
        "Dial {value} from any desk telephone to reach {subject}.",
        "The internal directory gives {value} as the extension of {subject}.",
        "Calls for {subject} are put through to {value}.",
        "By telephone, {subject} is available under {value} inside the house.",
        "On the switchboard, line {value} belongs to {subject}.",
    ),
    "{of} telephone extension",
    (
        "What is the phone extension of {of}?",
        "On which extension does {of} answer the phone?",
        "Which extension do I dial to reach {of}?",
    ),
    (
        "What number do I call to talk to {of}?",
        "How can I give {of} a ring?",
        "Which digits connect me with {of}?",
    ),
    value="<20000..89999>",
    phrase="the extension of {of}",
    section="Contact",
)
ROOM = Relation(
    "person.room",
    (
        "{subject} sits in room {value}.",
        "The workplace of {subject} is in room {value}.",
        "Visitors find {subject} behind the door marked {value}.",
        "Room {value} has been assigned to {subject}.",
        "Parcels for {subject} are carried up to {value}.",
        "The floor plan shows {subject} in {value}.",
    ),
    "{of} room number",
    (
        "Which room does {of} sit in?",
        "What is the room number of {of}?",
        "In which room is the workplace of {of}?",
    ),
    (
        "On which door should I knock to see {of}?",
        "Where in the building do I find {of}?",
        "I am standing in the lobby and have a meeting with {of}: where to?",
    ),
    value="[A|B|C|D|E|F|G|H|K]<1..7>-<10..98>",
    phrase="the room of {of}",
    section="Contact",
)
JOINED = Relation(
    "person.joined",
    (
        "{subject} joined Norrvik on {value}.",
        "The first working day of {subject} was {value}.",
        "{subject} has been on the payroll since {value}.",
        "Length of service for {subject} is counted from {value}.",
        "The employment of {subject} began on {value}.",
        "Personnel records show {value} as the date of entry of {subject}.",
    ),
    "{of} joined date of entry",
    (
        "When did {of} join Norrvik?",
        "On which date did the employment of {of} begin?",
        "Since when has {of} been on the payroll?",
    ),
    (
        "When was {of} hired?",
        "When was {of} a newcomer here?",
        "What day did {of} start in the company?",
    ),
    value=f"<1..28> {_MONTH} <2003..2025>",
    phrase="the date of entry of {of}",
    section="Employment",
)

PERSON = Kind(
    "person",
    ("person", "people"),
    (
        "{subject}",
        "About {subject}",
        "Directory entry: {subject}",
        "Who is who: {subject}",
        "Staff profile of {subject}",
    ),
    (TEAM, MANAGER, DEPUTY, OFFICE, EXTENSION, ROOM, JOINED),
    PROSE,
)
