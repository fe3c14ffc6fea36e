"""Questions worded by hand, one at a time, as people in an organisation ask; names are filled in."""

from __future__ import annotations

from typing import NamedTuple


class Hand(NamedTuple):
    """One wording, and the relations it asks by."""

    text: str
    relations: tuple[str, ...] = ()


STEPS = (
    Hand("It is my first week and I am in charge of {of}. Can you tell me what to do, from start to finish?"),
    Hand("Our auditor wants the work instruction for {of} read out to her. What does it say, in sequence?"),
    Hand("Is there a checklist for {of}?"),
    Hand("Before I leave on holiday I have to explain {of} to my stand-in. What belongs to it?"),
    Hand("{of}: what comes first, what comes next, when am I done?"),
    Hand("How is {of} supposed to be done?"),
    Hand("Somebody skipped part of {of} yesterday. Which parts are there?"),
    Hand("Please remind me how we go about {of}."),
    Hand("What exactly is expected of me when it comes to {of}?"),
    Hand("I keep forgetting the sequence for {of}, what was it again?"),
)
TWO_CLAUSES = (
    Hand(
        "Planning ahead for {of}: under the {when} rules, how early must I speak up, and who signs?",
        ("policy.notice", "policy.approver"),
    ),
    Hand(
        "For {of} in {when}: how much do I get at most, and how long must the paperwork be kept?",
        ("policy.ceiling", "policy.retention"),
    ),
    Hand(
        "New joiner question about {of}: in {when}, is there a waiting time, and what is the allowance?",
        ("policy.waiting", "policy.allowance"),
    ),
    Hand(
        "What were the notice and the claim ceiling for {of} back in {when}?",
        ("policy.notice", "policy.ceiling"),
    ),
    Hand(
        "Up to which sum could a manager wave {of} through in {when}, and which team decided above?",
        ("policy.limit", "policy.approver"),
    ),
    Hand(
        "We are comparing notes on {of}. In {when}, what was the allowance, and what was the approval limit?",
        ("policy.allowance", "policy.limit"),
    ),
    Hand(
        "Somebody who left asks about {of} in {when}: waiting period? And how long are records kept?",
        ("policy.waiting", "policy.retention"),
    ),
    Hand(
        "Two things on {of} for {when}, please: the team that approves, and the highest single claim.",
        ("policy.approver", "policy.ceiling"),
    ),
    Hand(
        "What did the {when} edition say on {of} about giving notice, and about the allowance?",
        ("policy.notice", "policy.allowance"),
    ),
    Hand(
        "Preparing the works council meeting: {of}, {when}, how long is the waiting period and who approves?",
        ("policy.waiting", "policy.approver"),
    ),
)
CHANGE = (
    Hand(
        "We moved from {of} {when} to {then} and the timeout is not the same. What was it, what is it now?",
        ("release.timeout",),
    ),
    Hand(
        "Did the batch size of {of} move between {when} and {then}? Give me both numbers.", ("release.batch",)
    ),
    Hand(
        "After updating {of} from {when} to {then} the log looks different. Which level was it, and is it?",
        ("release.log_level",),
    ),
    Hand(
        "Memory use of {of} changed with {then}. How large was the cache in {when}, and how large is it now?",
        ("release.cache",),
    ),
    Hand("How often did {of} try again in {when}, and how often in {then}?", ("release.retry",)),
    Hand(
        "The firewall people ask which port {of} used in {when} and which one it uses in {then}.",
        ("release.port",),
    ),
    Hand(
        "Between {when} and {then} of {of}, what happened to the time limit of a request?",
        ("release.timeout",),
    ),
    Hand("Old and new value of the cache for {of}, {when} against {then}, please.", ("release.cache",)),
    Hand(
        "Is it true that {of} listens somewhere else in {then} than in {when}? On which ports?",
        ("release.port",),
    ),
    Hand("How many records at once did {of} take in {when}, compared to {then}?", ("release.batch",)),
)
TWO_HOPS = (
    Hand(
        "The dashboard for {of} is red. Which extension gets me whoever is on call?",
        ("service.oncall", "person.extension"),
    ),
    Hand(
        "I am preparing an audit of {of} and need the number of the contract with its supplier.",
        ("project.vendor", "vendor.contract"),
    ),
    Hand(
        "I have to give {of} back in person. In which room is its custodian?",
        ("asset.custodian", "person.room"),
    ),
    Hand(
        "What is the runbook of the service that went down in {of}?", ("incident.service", "service.runbook")
    ),
    Hand(
        "A reseller wants to talk to the manager of {of}. What is the extension?",
        ("product.manager", "person.extension"),
    ),
    Hand("Since when has the lead of {of} been with the company?", ("team.lead", "person.joined")),
    Hand(
        "{of} called and wants their account executive on the phone. Extension?",
        ("customer.executive", "person.extension"),
    ),
    Hand(
        "I left my coat in the room of the trainer of {of}. Which room is that?",
        ("course.trainer", "person.room"),
    ),
    Hand(
        "There is water in the stairwell of {of}. How do I phone the site manager?",
        ("site.manager", "person.extension"),
    ),
    Hand("Where does the chair of {of} sit?", ("committee.chair", "person.room")),
    Hand(
        "To which cost centre do I book work on {of}? It goes to the owning team.",
        ("service.owner", "team.cost_centre"),
    ),
    Hand(
        "If we want to get rid of the supplier of {of}, how many days before must we say so?",
        ("asset.supplier", "vendor.notice"),
    ),
    Hand("{of} is being stopped. How much notice does the vendor get?", ("project.vendor", "vendor.notice")),
    Hand("How long is the warranty on what {of} bought from us?", ("customer.product", "product.warranty")),
    Hand(
        "For how many days does the backend of {of} keep its data?", ("product.backend", "service.retention")
    ),
)
THREE_HOPS = (
    Hand(
        "Which cost centre pays for {of}? It is the one of the team that owns the service concerned.",
        ("incident.service", "service.owner", "team.cost_centre"),
    ),
    Hand(
        "Who do I ring about {of}: what is the extension of the person on call for the service that failed?",
        ("incident.service", "service.oncall", "person.extension"),
    ),
    Hand(
        "In which channel do I reach the team behind the backend of {of}?",
        ("product.backend", "service.owner", "team.channel"),
    ),
    Hand(
        "Where does the manager of the product that came out of {of} sit?",
        ("project.outcome", "product.manager", "person.room"),
    ),
    Hand(
        "{of} reports trouble with what they bought. Which runbook belongs to its backend?",
        ("customer.product", "product.backend", "service.runbook"),
    ),
    Hand(
        "I need to escalate {of} beyond the engineers: extension of the lead of the owning team?",
        ("service.owner", "team.lead", "person.extension"),
    ),
    Hand(
        "Replacing {of} costs money. Which cost centre has the team that buys from its supplier?",
        ("asset.supplier", "vendor.buyer", "team.cost_centre"),
    ),
    Hand(
        "Where do I post a question for the buyers who look after the vendor of {of}?",
        ("project.vendor", "vendor.buyer", "team.channel"),
    ),
    Hand(
        "I want to hand the certificates of {of} to the lead of the team it is for. Which room?",
        ("course.audience", "team.lead", "person.room"),
    ),
    Hand(
        "{of} is unhappy with its account executive. What is the extension of that executive's manager?",
        ("customer.executive", "person.manager", "person.extension"),
    ),
)
COMPARE = (
    Hand(
        "Finance asks which of the two contracts leaves us more time: {a} or {b}. Longer notice wins.",
        ("vendor.notice",),
    ),
    Hand("Who charges us more a year, {a} or {b}?", ("vendor.fee",)),
    Hand("We have to move one archive: does {a} or {b} keep data for longer?", ("service.retention",)),
    Hand("Which promises to be up more of the time, {a} or {b}?", ("service.availability",)),
    Hand("Which one got more money, {a} or {b}?", ("project.budget",)),
    Hand("Bigger customer by seats: {a} or {b}?", ("customer.seats",)),
    Hand("Was {a} over sooner than {b}, or did it drag on for more minutes?", ("incident.duration",)),
    Hand("Which took more customers down, {a} or {b}?", ("incident.customers_hit",)),
    Hand("I can only book one room for everybody. Does {a} or {b} hold more people?", ("site.capacity",)),
    Hand("Which team has more people, {a} or {b}?", ("team.headcount",)),
)
UNKNOWN = (
    Hand("When does the company kindergarten open in the morning?"),
    Hand("Who won the chess tournament at last year's summer party?"),
    Hand("May I bring my dog to the laboratory?"),
    Hand("What is the wifi password of the holiday cottage by the lake?"),
    Hand("How many shares did the founders sell when the company went public?"),
    Hand("Which school did the chief executive go to?"),
    Hand("At what time does the last shuttle boat leave the pier?"),
    Hand("What did the jury say about our design award entry?"),
    Hand("Is the sauna in the basement open on Sundays?"),
    Hand("Which blood groups did the donation drive ask for?"),
)
LISTING = (
    Hand(
        "We lose the data centre in {value} next year. What do we run there? I need all of it.",
        ("service.region",),
    ),
    Hand("Give me the complete inventory of what is hosted in {value}.", ("service.region",)),
    Hand("Everything in {value} has to be moved. What is everything?", ("service.region",)),
    Hand("For the board I need every single project that is in {value}.", ("project.phase",)),
    Hand("What is currently in the phase called {value}? All of them, please.", ("project.phase",)),
    Hand("Portfolio review: all undertakings in {value}.", ("project.phase",)),
    Hand("Who are all our customers on {value}?", ("customer.plan",)),
    Hand(
        "The price of {value} goes up. Which accounts do we have to write to? Do not leave any out.",
        ("customer.plan",),
    ),
    Hand("Mailing for {value}: I need the names of all the customers there.", ("customer.region",)),
    Hand(
        "We open a branch for {value}. Which customers will it look after, all in all?", ("customer.region",)
    ),
)
JOIN = (
    Hand(
        "The {value} office is moving. Which devices come along, going by where their custodians sit?",
        ("asset.custodian", "person.office"),
    ),
    Hand(
        "Which customers are looked after from {value}, going by the office of their account executive?",
        ("customer.executive", "person.office"),
    ),
    Hand(
        "Which projects have a sponsor who is based in {value}? Every one, please.",
        ("project.sponsor", "person.office"),
    ),
    Hand("All incidents that somebody from the {value} office led.", ("incident.lead", "person.office")),
    Hand(
        "Everything that ever broke in {value}: which incidents hit a service that is hosted there?",
        ("incident.service", "service.region"),
    ),
)
HISTORY = (
    Hand(
        "I have to write up how {of} developed over the years, every figure in every edition. What were they?"
    ),
    Hand("For the arbitration I need all terms for {of} as they stood in each year we have on file."),
    Hand("What has been changed about {of} since the beginning, and what to?"),
    Hand("Please put together every version of the rules for {of}, number by number."),
    Hand("Has anything about {of} stayed the same through all the editions? I need the whole development."),
)
PORTRAITS = (
    Hand("I have to choose among {names}. What do we know about each of them?"),
    Hand("Make me a dossier: {names}. All facts, side by side."),
    Hand("Where do {names} agree and where do they not, in all points?"),
    Hand("Management wants one page on {names} with everything on it."),
    Hand("What sets {names} apart from each other? Leave nothing out."),
)
BY_HAND = {
    "steps": STEPS,
    "two_clauses": TWO_CLAUSES,
    "change": CHANGE,
    "two_hops": TWO_HOPS,
    "three_hops": THREE_HOPS,
    "compare": COMPARE,
    "unknown": UNKNOWN,
    "listing": LISTING,
    "join": JOIN,
    "history": HISTORY,
    "portraits": PORTRAITS,
}
