"""What people's pages say."""

from __future__ import annotations

from assay_worlds.organisation.phrase import Phrase

# A duty as its holder's page words it, and as a colleague in need of it would.
DUTIES = (
    ("administers the pension scheme", "retirement savings"),
    ("coordinates first-aid training", "learning how to treat injuries"),
    ("reviews export licences", "permission to sell devices overseas"),
    ("curates the sample archive", "old specimens from the field"),
    ("maintains the build cluster", "stuck compile servers"),
    ("negotiates insurance cover", "a claim for a crate damaged at sea"),
    ("moderates the ethics panel", "moral doubts about a study"),
    ("plans the antenna range", "testing how far a radio reaches"),
    ("edits the customer magazine", "a story our clients should read"),
    ("supervises apprentices", "young trainees learning a trade"),
    ("audits software licences", "checking that we paid for every program"),
    ("prepares the tax returns", "a letter from the fiscal authority"),
    ("tunes the anomaly detectors", "false alarms of the outlier algorithm"),
    ("oversees waste disposal", "getting rid of garbage and old solvents"),
    ("runs usability sessions", "watching real users try a screen"),
    ("manages the trademark portfolio", "a stranger using our brand and logo"),
    ("operates the climate chamber", "exposing a prototype to heat and cold"),
    ("organises the choir and the summer party", "singing together after work"),
    ("handles visa applications", "a residence permit for a foreign hire"),
    ("keeps the spare-parts catalogue", "a replacement component for a broken device"),
    ("schedules penetration tests", "friendly hackers attacking our website"),
    ("translates the manuals", "instructions in Polish"),
    ("forecasts component demand", "predicting how many chips to buy"),
    ("leads the drone survey crew", "aerial photographs of a river"),
)

DUTY = Phrase(
    "{value} {duty} for the whole company.",
    "{duty}",
    "Who at the company {duty}?",
    "Who in the company can help with {plain}?",
)
EXTENSION = Phrase(
    "{name} of {team} can be reached on extension {value}.",
    "{name} {team} extension",
    "On which extension can {name} of {team} be reached?",
    "I want to phone {name}, the {role} from {office}: which number?",
)
BACKGROUND = Phrase(
    "Before joining in {year}, {first} worked as {value}.",
    "{name} {team} before joining worked as",
    "What did {name} of {team} work as before joining?",
    "What was the earlier career of {name}, the {role} in {office}?",
    (
        *("a lighthouse keeper", "a harbour pilot", "a violin maker", "a crystallographer", "a paramedic"),
        *("a patent examiner", "a glaciologist", "a railway signaller", "a cartographer", "a brewer"),
        *("a court interpreter", "an air-traffic controller", "a marine biologist", "a locksmith"),
    ),
)

PROSE = (
    "Most mornings start with a walk along the water and a long list.",
    "Office hours are Tuesday and Thursday after lunch.",
    "Answers e-mail in batches and calls at once.",
    "Sits on the committee that picks the yearly charity.",
    "Prefers short meetings with a written agenda.",
    "Has mentored four trainees and is looking for the fifth.",
    "Keeps the team's notebook of strange failures.",
    "Speaks at meet-ups about sensors that lie.",
    "Works from the quiet room when a report is due.",
    "Collects misprinted circuit boards.",
)
