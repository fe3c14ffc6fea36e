"""Pages on internal services: who owns and watches them, where they run, what they keep."""

from __future__ import annotations

from assay_worlds.workplace.kind import Kind, Relation
from assay_worlds.workplace.text.service_prose import PROSE

OWNER = Relation(
    "service.owner",
    (
        "{subject} is owned by {value}.",
        "The owner of {subject} is {value}.",
        "{value} develops and operates {subject}.",
        "Responsibility for {subject} lies with {value}.",
        "Changes to {subject} need the consent of {value}, which owns it.",
        "In the service catalogue {subject} is entered for {value}.",
    ),
    "{of} service owner",
    (
        "Which team owns {of}?",
        "Who is the owner of {of}?",
        "With which team does responsibility for {of} lie?",
    ),
    (
        "Who takes care of {of}?",
        "Whose job is it to keep {of} going?",
        "Which group would I talk to before altering {of}?",
    ),
    gives="team",
    phrase="the team that owns {of}",
    listing="Which services does {value} own?",
    section="Responsibility",
)
ONCALL = Relation(
    "service.oncall",
    (
        "{value} is on call for {subject}.",
        "Out of hours, pages about {subject} wake {value}.",
        "The on-call engineer of {subject} is {value}.",
        "At night and at weekends, {subject} is watched by {value}.",
        "The pager for {subject} is carried by {value}.",
        "Alarms raised by {subject} are routed to {value}.",
    ),
    "{of} on-call engineer",
    (
        "Who is on call for {of}?",
        "Which engineer carries the pager for {of}?",
        "Who watches {of} out of hours?",
    ),
    (
        "Who gets out of bed when {of} breaks down?",
        "It is midnight and {of} is down: whom do I ring?",
        "Who has to react first if {of} fails on a Sunday?",
    ),
    gives="person",
    phrase="the person on call for {of}",
    listing="Which services is {value} on call for?",
    section="Responsibility",
)
AVAILABILITY = Relation(
    "service.availability",
    (
        "{subject} has an availability target of {value}.",
        "The agreed availability of {subject} is {value} a month.",
        "{subject} must be up {value} of the time.",
        "The service level agreement for {subject} promises {value}.",
        "Uptime of {subject} is measured against a goal of {value}.",
        "Anything below {value} counts as a breach of the service level of {subject}.",
    ),
    "{of} availability target",
    (
        "What is the availability target of {of}?",
        "Which availability has been agreed for {of}?",
        "What uptime does the service level agreement for {of} promise?",
    ),
    (
        "How reliable is {of} supposed to be?",
        "What share of the month may people expect {of} to work?",
        "How rarely is {of} allowed to fail?",
    ),
    value="99.<10..98>%",
    phrase="the availability target of {of}",
    compare="Which has the higher availability target, {a} or {b}?",
    section="Operation",
)
REGION = Relation(
    "service.region",
    (
        "{subject} is hosted in {value}.",
        "The machines behind {subject} stand in the {value} region.",
        "{subject} runs in {value} only.",
        "The hosting region of {subject} is {value}.",
        "All nodes of {subject} have been placed in {value}.",
        "{value} is the region to which {subject} is deployed.",
    ),
    "{of} hosting region",
    (
        "In which region is {of} hosted?",
        "What is the hosting region of {of}?",
        "To which region is {of} deployed?",
    ),
    (
        "Where are the servers of {of}?",
        "In what part of the world does {of} live?",
        "Which data centre area would have to burn down for {of} to vanish?",
    ),
    value="[Nordland-1|Nordland-2|Elbe-1|Elbe-2|Tagus-1|Clyde-1|Vistula-1|Adige-1]",
    phrase="the hosting region of {of}",
    listing="Which services are hosted in {value}?",
    section="Operation",
)
RUNBOOK = Relation(
    "service.runbook",
    (
        "The runbook of {subject} is {value}.",
        "Recovery of {subject} follows runbook {value}.",
        "When {subject} fails, open {value} and go through it line by line.",
        "What to do in an outage of {subject} is written down in {value}.",
        "Operators restore {subject} by the book {value}.",
        "{subject} is covered by {value} in the runbook library.",
    ),
    "{of} runbook",
    (
        "What is the runbook of {of}?",
        "Which runbook does the recovery of {of} follow?",
        "Under which identifier is the runbook of {of} kept?",
    ),
    (
        "Which instructions do I follow to get {of} back up?",
        "Where are the emergency steps for {of} described?",
        "What should I read now that {of} has crashed?",
    ),
    value="RB-<1000..9999>",
    phrase="the runbook of {of}",
    section="Operation",
)
RETENTION = Relation(
    "service.retention",
    (
        "{subject} retains its records for {value}.",
        "The retention period of {subject} is {value}.",
        "Data in {subject} are erased after {value}.",
        "Entries stay in {subject} for {value} before they are purged.",
        "{subject} keeps history for {value} and no longer.",
        "A purge job removes from {subject} whatever is older than {value}.",
    ),
    "{of} data retention period",
    (
        "How long does {of} retain its records?",
        "What is the retention period of {of}?",
        "After how many days are data in {of} erased?",
    ),
    (
        "How far back can I look in {of}?",
        "When does {of} forget what was stored?",
        "At what age does old information disappear from {of}?",
    ),
    value="<30..720/30> days",
    phrase="the retention period of {of}",
    listing="Which services retain their records for {value}?",
    compare="Which has the longer retention period, {a} or {b}?",
    section="Data",
)


SERVICE = Kind(
    "service",
    ("service", "services"),
    (
        "{subject}",
        "Service page: {subject}",
        "{subject}: overview",
        "Operating {subject}",
        "What {subject} does",
    ),
    (OWNER, ONCALL, AVAILABILITY, REGION, RUNBOOK, RETENTION),
    PROSE,
)
