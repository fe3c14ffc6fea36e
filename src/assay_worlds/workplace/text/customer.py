"""Pages on customers: who looks after them, what they bought, and until when."""

from __future__ import annotations

from assay_worlds.organisation.vocabulary import MONTHS
from assay_worlds.workplace.kind import Kind, Relation
from assay_worlds.workplace.text.customer_prose import PROSE

_MONTH = f"[{'|'.join(MONTHS)}]"

EXECUTIVE = Relation(
    "customer.executive",
    (
        "The account executive for {subject} is {value}.",
        "{value} looks after the account of {subject}.",
        "{subject} is a client of {value}.",
        "Offers to {subject} go out in the name of {value}.",
        "On the sales side, {value} is responsible for {subject}.",
        "The account of {subject} has been handed to {value}.",
    ),
    "{of} account executive",
    (
        "Who is the account executive for {of}?",
        "Who looks after the account of {of}?",
        "Who is responsible for {of} on the sales side?",
    ),
    (
        "Which seller knows {of} best?",
        "Who earns the commission when {of} orders more?",
        "Whom should I copy on a letter to {of}?",
    ),
    gives="person",
    phrase="the account executive of {of}",
    listing="Which customers does {value} look after?",
    section="Account",
)
PLAN = Relation(
    "customer.plan",
    (
        "{subject} is on the {value} plan.",
        "The support plan of {subject} is {value}.",
        "{subject} subscribes to {value}.",
        "In the subscription register {subject} is entered with {value}.",
        "{subject} has booked the {value} package.",
        "Service for {subject} is given under plan {value}.",
    ),
    "{of} subscription plan",
    (
        "Which plan is {of} on?",
        "What support plan does {of} have?",
        "Which package has {of} booked?",
    ),
    (
        "What level of help did {of} pay for?",
        "Which of our offers did {of} choose?",
        "How well is {of} covered by what it bought?",
    ),
    value="[Basic|Plus|Extended|Premier|Campus|Sovereign]",
    phrase="the plan of {of}",
    listing="Which customers are on the {value} plan?",
    section="Subscription",
)
SEATS = Relation(
    "customer.seats",
    (
        "{subject} holds {value}.",
        "The subscription of {subject} covers {value}.",
        "{subject} has paid for {value}.",
        "Up to {value} may be taken at {subject}.",
        "The order of {subject} was for {value}.",
        "The number agreed with {subject} is {value}.",
    ),
    "{of} number of seats",
    (
        "How many seats does {of} hold?",
        "How many seats does the subscription of {of} cover?",
        "For how many seats has {of} paid?",
    ),
    (
        "How many users can {of} have at once?",
        "How large is the deal with {of}, counted in log-ins?",
        "How many employees of {of} are entitled to work with our software?",
    ),
    value="<20..980/10> seats",
    phrase="the number of seats of {of}",
    compare="Which holds more seats, {a} or {b}?",
    section="Subscription",
)
RENEWAL = Relation(
    "customer.renewal",
    (
        "The subscription of {subject} renews on {value}.",
        "The renewal date of {subject} is {value}.",
        "{subject} has to decide on its renewal by {value}.",
        "On {value}, the current term of {subject} ends.",
        "{subject} is bound until {value}.",
        "What {subject} has booked runs until {value}.",
    ),
    "{of} subscription renewal date",
    (
        "When does the subscription of {of} renew?",
        "What is the renewal date of {of}?",
        "On which date does the current term of {of} end?",
    ),
    (
        "How long can we count on {of} as a client?",
        "When might {of} leave us at the earliest?",
        "By what day must the next offer to {of} be signed?",
    ),
    value=f"<1..28> {_MONTH} <2026..2029>",
    phrase="the renewal date of {of}",
    section="Subscription",
)
REGION = Relation(
    "customer.region",
    (
        "{subject} belongs to the {value} sales region.",
        "The sales region of {subject} is {value}.",
        "Sales counts {subject} under {value}.",
        "{subject} is served from the {value} territory.",
        "Turnover with {subject} is reported for {value}.",
        "On the sales map {subject} falls into {value}.",
    ),
    "{of} sales region",
    (
        "Which sales region does {of} belong to?",
        "What is the sales region of {of}?",
        "For which region is turnover with {of} reported?",
    ),
    (
        "In what part of the market is {of}?",
        "In which corner of the continent do our sellers place {of}?",
        "How do our sellers file {of} geographically?",
    ),
    value="[Nordics|Baltics|Benelux|Iberia|Alpine|Adriatic|Anglia|Carpathia]",
    phrase="the sales region of {of}",
    listing="Which customers belong to the {value} sales region?",
    section="Account",
)
PRODUCT = Relation(
    "customer.product",
    (
        "{subject} uses {value}.",
        "The product in service at {subject} is {value}.",
        "{subject} has bought {value}.",
        "{value} was delivered to {subject} and is in daily use there.",
        "{subject} measures with {value}.",
        "The installed base at {subject} consists of {value}.",
    ),
    "{of} product in use",
    (
        "Which product does {of} use?",
        "What product is in service at {of}?",
        "Which product has {of} bought?",
    ),
    (
        "What equipment of ours stands at {of}?",
        "Which of our devices would I find on a visit to {of}?",
        "What did we sell to {of}?",
    ),
    gives="product",
    phrase="the product that {of} uses",
    listing="Which customers use {value}?",
    section="Account",
)


CUSTOMER = Kind(
    "customer",
    ("customer", "customers"),
    (
        "{subject}",
        "Customer file: {subject}",
        "Account notes on {subject}",
        "{subject}: account overview",
        "Looking after {subject}",
    ),
    (EXECUTIVE, PLAN, SEATS, RENEWAL, REGION, PRODUCT),
    PROSE,
)
