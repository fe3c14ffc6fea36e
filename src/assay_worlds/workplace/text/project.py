"""Pages on projects: who backs them, who helps, what they cost, how far they are."""

from __future__ import annotations

from assay_worlds.organisation.vocabulary import MONTHS
from assay_worlds.workplace.kind import Kind, Relation
from assay_worlds.workplace.text.project_prose import PROSE

_MONTH = f"[{'|'.join(MONTHS)}]"

SPONSOR = Relation(
    "project.sponsor",
    (
        "{subject} is sponsored by {value}.",
        "The sponsor of {subject} is {value}.",
        "{value} answers for {subject} before the board as its sponsor.",
        "In the management circle, {value} sponsors {subject}.",
        "Escalations within {subject} end with {value}, who backs the project.",
        "{subject} owes its mandate to {value} as executive sponsor.",
    ),
    "{of} sponsor",
    (
        "Who is the sponsor of {of}?",
        "Who sponsors {of}?",
        "Which executive backs {of}?",
    ),
    (
        "Who defends {of} among the directors?",
        "Whose support does {of} have at the top?",
        "Who would have to agree if {of} were to be stopped?",
    ),
    gives="person",
    phrase="the sponsor of {of}",
    listing="Which projects does {value} sponsor?",
    section="Organisation",
)
VENDOR = Relation(
    "project.vendor",
    (
        "{value} has been engaged as vendor for {subject}.",
        "The external partner in {subject} is {value}.",
        "{subject} buys outside work from {value}.",
        "For {subject}, Norrvik has hired {value}.",
        "The tender for {subject} was won by {value}.",
        "Deliveries to {subject} come from the vendor {value}.",
    ),
    "{of} vendor",
    (
        "Which vendor has been engaged for {of}?",
        "Who is the external partner in {of}?",
        "Which vendor won the tender for {of}?",
    ),
    (
        "Which outside firm helps with {of}?",
        "Who is paid to support us on {of}?",
        "What company, other than ours, is involved in {of}?",
    ),
    gives="vendor",
    phrase="the vendor engaged for {of}",
    listing="Which projects has {value} been engaged for?",
    section="Organisation",
)
BUDGET = Relation(
    "project.budget",
    (
        "{subject} has a budget of {value}.",
        "The board granted {value} to {subject}.",
        "Spending on {subject} is capped at {value}.",
        "The approved budget of {subject} amounts to {value}.",
        "{subject} may cost {value} in all.",
        "An envelope of {value} has been set aside for {subject}.",
    ),
    "{of} budget",
    (
        "What is the budget of {of}?",
        "How much has the board granted to {of}?",
        "At what amount is spending on {of} capped?",
    ),
    (
        "How much money is available for {of}?",
        "How expensive can {of} become before somebody complains?",
        "What sum was put on the table for {of}?",
    ),
    value="EUR <85..960/5>,000",
    phrase="the budget of {of}",
    compare="Which has the larger budget, {a} or {b}?",
    section="Frame",
)
KICKOFF = Relation(
    "project.kickoff",
    (
        "The kick-off of {subject} took place on {value}.",
        "{subject} was kicked off on {value}.",
        "Work on {subject} started on {value}.",
        "The opening meeting of {subject} is dated {value}.",
        "On {value}, {subject} was launched with a first meeting.",
        "{value} is the official start of {subject}.",
    ),
    "{of} kick-off date",
    (
        "When did the kick-off of {of} take place?",
        "On which date was {of} kicked off?",
        "When was the opening meeting of {of}?",
    ),
    (
        "Since when have people been busy with {of}?",
        "What day did {of} get going?",
        "When did somebody first sit down to do {of}?",
    ),
    value=f"<1..28> {_MONTH} <2018..2026>",
    phrase="the kick-off date of {of}",
    section="Frame",
)
PHASE = Relation(
    "project.phase",
    (
        "{subject} is in the {value} phase.",
        "The current phase of {subject} is {value}.",
        "{subject} has reached {value}.",
        "In the portfolio chart {subject} stands at {value}.",
        "As to its stage, {subject} is listed under {value}.",
        "The phase gate before {value} has been passed by {subject}, the next one has not.",
    ),
    "{of} phase",
    (
        "Which phase is {of} in?",
        "What is the current phase of {of}?",
        "What stage has {of} reached?",
    ),
    (
        "How far along is {of}?",
        "What are the people on {of} busy with at present?",
        "Is {of} nearly done or still at the beginning?",
    ),
    value="[scoping|design|prototyping|pilot|roll-out|close-out]",
    phrase="the phase of {of}",
    listing="Which projects are in the {value} phase?",
    section="Status",
)
OUTCOME = Relation(
    "project.outcome",
    (
        "The outcome of {subject} is {value}.",
        "{subject} results in the product {value}.",
        "{value} came out of {subject}.",
        "What {subject} delivers to the market is {value}.",
        "The purpose of {subject} is to bring {value} into being.",
        "{subject} ends with {value} as its product.",
    ),
    "{of} outcome product",
    (
        "What product is the outcome of {of}?",
        "Which product came out of {of}?",
        "What does {of} deliver to the market?",
    ),
    (
        "What can we sell thanks to {of}?",
        "Which device do we owe to {of}?",
        "What is all the work on {of} good for?",
    ),
    gives="product",
    phrase="the product that came out of {of}",
    listing="Which projects have {value} as their outcome?",
    section="Status",
)

PROJECT = Kind(
    "project",
    ("project", "projects"),
    (
        "{subject}",
        "{subject}: project page",
        "Status of {subject}",
        "{subject} in brief",
        "Charter of {subject}",
    ),
    (SPONSOR, VENDOR, BUDGET, KICKOFF, PHASE, OUTCOME),
    PROSE,
)
