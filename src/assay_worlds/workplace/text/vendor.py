"""Pages on vendors: whom to call, what was agreed, who buys there."""

from __future__ import annotations

from assay_worlds.organisation.vocabulary import MONTHS
from assay_worlds.workplace.kind import Kind, Relation
from assay_worlds.workplace.text.vendor_prose import PROSE

_MONTH = f"[{'|'.join(MONTHS)}]"

CONTACT = Relation(
    "vendor.contact",
    (
        "Our contact at {subject} is {value}.",
        "{value} looks after Norrvik on behalf of {subject}.",
        "At {subject}, enquiries are taken by {value}.",
        "{subject} has named {value} as key account representative.",
        "The person to ask for at {subject} is {value}.",
        "Letters to {subject} go to the attention of {value}.",
    ),
    "{of} contact person",
    (
        "Who is our contact at {of}?",
        "Who takes enquiries at {of}?",
        "Whom has {of} named as representative?",
    ),
    (
        "Whom do I call when I need something from {of}?",
        "Who picks up our orders over at {of}?",
        "What is the name of the one who deals with us for {of}?",
    ),
    value="[Ada|Benno|Carla|Dario|Elif|Fabian|Gitte|Hugo|Irena|Jonas|Katja|Lorenz|Mirja|Nestor|Oda] "
    "[Brandt|Corvin|Dahlke|Estrup|Falkner|Grohl|Hestvik|Ivarsen|Jankov|Kerling|Lohmann|Marchetti|Nolde|Opitz|"
    "Prahl]",
    phrase="the contact at {of}",
    section="Contact",
)
CONTRACT = Relation(
    "vendor.contract",
    (
        "The framework contract with {subject} is filed as {value}.",
        "Orders to {subject} are placed under contract {value}.",
        "{subject} supplies Norrvik on the basis of agreement {value}.",
        "The contract number of {subject} is {value}.",
        "Legal keeps the agreement with {subject} under {value}.",
        "Quote {value} as the contract in anything sent to {subject}.",
    ),
    "{of} contract number",
    (
        "What is the contract number of {of}?",
        "Under which contract are orders to {of} placed?",
        "How is the framework contract with {of} filed?",
    ),
    (
        "Which paper governs our dealings with {of}?",
        "What reference do I put on a purchase from {of}?",
        "Where can I look up what we and {of} signed?",
    ),
    value="FC-<10000..99999>",
    phrase="the contract number of {of}",
    section="Agreement",
)
NOTICE = Relation(
    "vendor.notice",
    (
        "The contract with {subject} can be ended with {value} of notice.",
        "The notice period agreed with {subject} is {value}.",
        "Either side may terminate the agreement with {subject} {value} in advance.",
        "{subject} has to be told {value} before Norrvik withdraws.",
        "Leaving {subject} takes {value} from the day the letter is received.",
        "A termination of the arrangement with {subject} becomes effective after {value}.",
    ),
    "{of} notice period",
    (
        "What is the notice period agreed with {of}?",
        "With how much notice can the contract with {of} be ended?",
        "How long in advance must the agreement with {of} be terminated?",
    ),
    (
        "How quickly could we get rid of {of}?",
        "How early do we have to warn {of} that we are quitting?",
        "If we cancelled {of} today, how long would we be stuck with them?",
    ),
    value="<15..180/15> days",
    phrase="the notice period of {of}",
    listing="Which vendors have a notice period of {value}?",
    compare="Which has the longer notice period, {a} or {b}?",
    section="Agreement",
)
FEE = Relation(
    "vendor.fee",
    (
        "Norrvik pays {subject} a fee of {value}.",
        "The fee of {subject} comes to {value}.",
        "{subject} charges {value} for its services.",
        "Under the agreement {subject} receives {value}.",
        "Remuneration of {subject} has been fixed at {value}.",
        "The bill of {subject} adds up to {value}.",
    ),
    "{of} yearly fee",
    (
        "What fee does Norrvik pay {of}?",
        "How much does {of} charge for its services?",
        "What does the fee of {of} come to?",
    ),
    (
        "How much do we spend on {of}?",
        "What does {of} cost us?",
        "How much would we save every twelve months without {of}?",
    ),
    value="EUR <12..248/2>,000 a year",
    phrase="the fee of {of}",
    compare="Which charges the higher fee, {a} or {b}?",
    section="Agreement",
)
RENEWAL = Relation(
    "vendor.renewal",
    (
        "The agreement with {subject} is up for renewal in {value}.",
        "The contract with {subject} expires in {value} unless it is renewed.",
        "{value} is the renewal month of {subject}.",
        "Terms with {subject} hold until {value}, when they are to be renewed.",
        "The next renegotiation with {subject} is due in {value}.",
        "{subject} is contracted up to {value}.",
    ),
    "{of} contract renewal month",
    (
        "When is the agreement with {of} up for renewal?",
        "In which month does the contract with {of} expire?",
        "What is the renewal month of {of}?",
    ),
    (
        "How long are we bound to {of}?",
        "By when must we have made up our minds about keeping {of}?",
        "When does the current deal with {of} run out?",
    ),
    value=f"{_MONTH} <2026..2030>",
    phrase="the renewal month of {of}",
    listing="Which vendors are up for renewal in {value}?",
    section="Agreement",
)
BUYER = Relation(
    "vendor.buyer",
    (
        "{value} buys from {subject}.",
        "Purchases from {subject} are made by {value}.",
        "{subject} is a supplier of {value}.",
        "At Norrvik, {value} is the buyer for {subject}.",
        "Orders to {subject} are released by {value}.",
        "Within the house, {subject} is on the books of {value}.",
    ),
    "{of} buying team",
    (
        "Which team buys from {of}?",
        "By which team are purchases from {of} made?",
        "Who releases orders to {of}?",
    ),
    (
        "Who here needs what {of} delivers?",
        "Whose supplier is {of}?",
        "Which of our groups does business with {of}?",
    ),
    gives="team",
    phrase="the team that buys from {of}",
    listing="Which vendors does {value} buy from?",
    section="Purchasing",
)


VENDOR = Kind(
    "vendor",
    ("vendor", "vendors"),
    (
        "{subject}",
        "Supplier file: {subject}",
        "Vendor record of {subject}",
        "Working with {subject}",
        "{subject}: what buyers should know",
    ),
    (CONTACT, CONTRACT, NOTICE, FEE, RENEWAL, BUYER),
    PROSE,
)
