"""What the injected pages say: each pattern is made to mislead in one known way."""

from __future__ import annotations

# One letter apart: {letter} is all in which the pages of a group differ.
LOANS = (
    "Grade {letter} {thing} at the {office} office are lent out against form {value}.",
    "Whoever borrows grade {letter} {thing} at the {office} office hands in form {value}.",
    "At the {office} office the loan of grade {letter} {thing} is recorded on form {value}.",
)
LOAN_QUESTIONS = (
    "Which form do I need to borrow grade {letter} {thing} at the {office} office?",
    "loan form grade {letter} {thing} {office}",
    "What paperwork goes with taking grade {letter} {thing} out of the {office} office?",
    "I would like to take grade {letter} {thing} home from {office}. Which form applies?",
)
LOAN_PROSE = (
    "The desk is staffed on weekdays and closes early before public holidays.",
    "Items leave the building only in their padded case, with the seal unbroken.",
    "A deposit is not asked for, but the cost centre of the borrower is noted.",
    "Returned pieces rest for a day in the climate cabinet before they are lent again.",
)
THINGS = (
    *("spectrometers", "oscilloscopes", "dial gauges", "thermal cameras", "torque wrenches", "flow meters"),
    *("load cells", "pyrometers", "anemometers", "sound level meters", "altimeters", "refractometers"),
    *("viscometers", "dosimeters", "interferometers", "photometers", "hygrometers", "manometers"),
)
LETTERS = ("B", "C", "D", "F")

# The same rule in versions that contradict one another; only the year says which one holds.
RULES = (
    ("the daily parking fee", "{} EUR", (2, 30)),
    ("the guest network password lifetime", "{} days", (5, 90)),
    ("the canteen subsidy", "{} cents a meal", (50, 400)),
    ("the locker deposit", "{} EUR", (5, 80)),
    ("the noise limit in the open-plan area", "{} decibels", (35, 70)),
    ("the visitor escort ratio", "{} guests to one host", (2, 15)),
    ("the minimum order for stationery", "{} EUR", (20, 250)),
    ("the heating set point", "{} tenths of a degree above 15", (20, 90)),
)
VERSIONS = (
    "From {when} on, {rule} at the {office} office is {value}.",
    "With effect from {when}, {rule} at the {office} office has been set to {value}.",
    "{rule} at the {office} office: {value}, valid from {when}.",
    "It was resolved that {rule} at the {office} office amounts to {value}, starting in {when}.",
)
VERSION_QUESTIONS = (
    "As of {year}, what was {rule} at the {office} office?",
    "What did {rule} at the {office} office amount to in {year}?",
    "{rule} {office} office as of {year}",
    "In {year}, how high was {rule} in {office}?",
)

# An identifier in the middle of a long paragraph about something else.
BURIED = (
    "in passing it was mentioned that crate {subject} sits on shelf {value}",
    "somebody recalled that crate {subject} had been moved to shelf {value}",
    "for the record, crate {subject} now stands on shelf {value}",
)
WEIGHED = (
    "crate {subject}, by the way, tipped the scales at {value}",
    "the forklift driver noted {value} for crate {subject}",
    "as an aside, crate {subject} came to {value} on the platform scale",
)
BURIED_QUESTIONS = (
    "On which shelf is crate {subject}?",
    "crate {subject} shelf",
    "Where do I find crate {subject}?",
)
WEIGHED_QUESTIONS = (
    "Which is heavier, crate {a} or crate {b}?",
    "Of the crates {a} and {b}, which one weighs more?",
    "crate {a} or crate {b}: which has the greater weight?",
)

# One name for several things.
BEARERS = (
    "the building",
    "the product line",
    "the project",
    "the training ship",
    "the test rig",
    "the canteen",
)
COLLISIONS = (
    "{bearer} called {name} is reached at extension {value}.",
    "Calls about {bearer} {name} go to extension {value}.",
    "The desk of {bearer} named {name} answers at extension {value}.",
)
COLLISION_QUESTIONS = (
    "What is the extension for {name}?",
    "{name} extension",
    "Which number do I dial for {name}?",
    "Under which extension is {name} reached?",
)

# Rare words of the house for plain things: a glossary says what they mean, and nothing else does.
MEANINGS = (
    ("the time after which a borrowed key must be back", "{} hours", (4, 96)),
    ("the money one may spend on a farewell gift", "{} EUR", (15, 120)),
    ("the share of a shift one may spend on the telephone rota", "{} percent", (5, 60)),
    ("the distance a trolley may be pushed by one person", "{} metres", (50, 900)),
    ("the age at which a cable is thrown away", "{} years", (3, 20)),
    ("the number of people who may share one fume hood", "{} people", (2, 9)),
    ("the pause between two readings of the same gauge", "{} minutes", (3, 50)),
    ("the amount of solvent kept outside the cabinet", "{} millilitres", (100, 900)),
)
GLOSSED = (
    "At the {office} office the {term} is {value}.",
    "The {term} of the {office} office stands at {value}.",
    "For the {office} office a {term} of {value} has been agreed.",
)
GLOSSARY = (
    "{term}: the house word for {meaning}.",
    "By {term} the handbook means {meaning}.",
    "A {term} is, in the language of the house, {meaning}.",
)
GLOSSED_QUESTIONS = (
    "What is {meaning} at the {office} office?",
    "At the {office} office, how much is {meaning}?",
    "{meaning}, {office} office",
    "I need to know {meaning} in {office}.",
)
NOTICE_TITLES = ("Notice", "Circular", "Desk note", "Announcement", "Bulletin board", "House note")
GLOSSARY_TITLES = ("Words of the house", "Glossary", "What we call things")
