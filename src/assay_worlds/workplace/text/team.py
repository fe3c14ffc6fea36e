"""Pages on teams: who leads them, where they are, how they are booked."""

from __future__ import annotations

from assay_worlds.workplace.kind import Kind, Relation
from assay_worlds.workplace.text.team_prose import PROSE

LEAD = Relation(
    "team.lead",
    (
        "{subject} is led by {value}.",
        "The lead of {subject} is {value}.",
        "{value} heads {subject}.",
        "At the helm of {subject} stands {value}.",
        "Decisions within {subject} rest with {value} as team lead.",
        "{value} was appointed to run {subject}.",
    ),
    "{of} team lead",
    (
        "Who leads {of}?",
        "Who is the team lead of {of}?",
        "Which person heads {of}?",
    ),
    (
        "Who has the say in {of}?",
        "Who is in charge of {of}?",
        "Whom do the people of {of} look to as their boss?",
    ),
    gives="person",
    phrase="the lead of {of}",
    listing="Which teams are led by {value}?",
    section="People",
)
COST_CENTRE = Relation(
    "team.cost_centre",
    (
        "{subject} books its expenses to cost centre {value}.",
        "The cost centre of {subject} is {value}.",
        "Invoices meant for {subject} must quote {value}.",
        "In the ledger, {subject} appears under {value}.",
        "Hours and material of {subject} are charged to {value}.",
        "Finance has assigned cost centre {value} to {subject}.",
    ),
    "{of} cost centre",
    (
        "What is the cost centre of {of}?",
        "To which cost centre does {of} book its expenses?",
        "Which cost centre must invoices for {of} quote?",
    ),
    (
        "Where does the money go when {of} buys something?",
        "What accounting code belongs on a bill for {of}?",
        "Which account pays for what {of} spends?",
    ),
    value="CC-<10000..99999>",
    phrase="the cost centre of {of}",
    section="Bookkeeping",
)
CHANNEL = Relation(
    "team.channel",
    (
        "{subject} can be reached in the chat channel {value}.",
        "Questions to {subject} are asked in {value}.",
        "The public channel of {subject} is {value}.",
        "Write in {value} to get hold of {subject}.",
        "{subject} reads {value} all day and answers there.",
        "In the chat, {subject} goes by {value}.",
    ),
    "{of} chat channel",
    (
        "What is the chat channel of {of}?",
        "In which channel can {of} be reached?",
        "Which channel does {of} read?",
    ),
    (
        "Where do I post a message so that {of} sees it?",
        "How can I contact {of} online without sending mail?",
        "Where does {of} talk in public?",
    ),
    value="#[ask|help|desk|line|talk|forum]-[amber|birch|cedar|delta|ember|fjord|gale|heath|inlet|juniper|"
    "kelp|larch|moss|north|ochre|pine|quartz|reed|slate|thorn]-<11..99>",
    phrase="the channel of {of}",
    section="Contact",
)
HOME = Relation(
    "team.home",
    (
        "{subject} has its home at the {value} office.",
        "The home office of {subject} is {value}.",
        "{value} is where {subject} is located.",
        "Most desks of {subject} stand in the {value} office.",
        "{subject} operates out of {value}.",
        "Norrvik houses {subject} in {value}.",
    ),
    "{of} home office location",
    (
        "At which office does {of} have its home?",
        "What is the home office of {of}?",
        "In which office is {of} located?",
    ),
    (
        "Which town do I go to if I want to visit {of}?",
        "Where on the map is {of}?",
        "In what city does {of} come together?",
    ),
    gives="office",
    phrase="the home office of {of}",
    listing="Which teams have their home at the {value} office?",
    section="Contact",
)
HEADCOUNT = Relation(
    "team.headcount",
    (
        "{subject} has a headcount of {value}.",
        "At the last count {subject} consisted of {value}.",
        "{subject} employs {value}, part-timers included.",
        "The staffing table allows {subject} {value}.",
        "With {value}, {subject} is fully staffed.",
        "The size of {subject} is {value}.",
    ),
    "{of} headcount size",
    (
        "What is the headcount of {of}?",
        "How many people does {of} employ?",
        "How many people does {of} consist of?",
    ),
    (
        "How big is {of}?",
        "How many colleagues work together in {of}?",
        "If everybody from {of} came to lunch, how many chairs would we need?",
    ),
    value="<4..27> people",
    phrase="the headcount of {of}",
    listing="Which teams have a headcount of {value}?",
    compare="Which has the larger headcount, {a} or {b}?",
    section="People",
)


TEAM = Kind(
    "team",
    ("team", "teams"),
    (
        "{subject}",
        "{subject}: team page",
        "How {subject} works",
        "Welcome to {subject}",
        "About the team {subject}",
    ),
    (LEAD, COST_CENTRE, CHANNEL, HOME, HEADCOUNT),
    PROSE,
)
