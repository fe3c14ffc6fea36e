"""Pages on products: who steers them, what they run on, what they cost, where they are made."""

from __future__ import annotations

from assay_worlds.workplace.kind import Kind, Relation
from assay_worlds.workplace.text.product_prose import PROSE

MANAGER = Relation(
    "product.manager",
    (
        "The product manager of {subject} is {value}.",
        "{value} manages {subject} as a product.",
        "{subject} is in the product portfolio of {value}.",
        "What goes into {subject} next is decided by {value}, its product manager.",
        "{value} speaks for {subject} in the product board.",
        "Product management for {subject} has been entrusted to {value}.",
    ),
    "{of} product manager",
    (
        "Who is the product manager of {of}?",
        "Who is in charge of product management for {of}?",
        "Which person decides what goes into {of} next?",
    ),
    (
        "To whom should I send ideas for improving {of}?",
        "Who steers the future of {of}?",
        "Who sets priorities for {of}?",
    ),
    gives="person",
    phrase="the product manager of {of}",
    listing="Which products does {value} manage?",
    section="Overview",
)
BACKEND = Relation(
    "product.backend",
    (
        "{subject} sends its data to {value}.",
        "The backend of {subject} is {value}.",
        "Readings taken with {subject} end up in {value}, the service behind it.",
        "{value} serves {subject} as backend.",
        "Every {subject} talks to the service {value}.",
        "Without {value} on the server side, {subject} only works locally.",
    ),
    "{of} backend service",
    (
        "Which service is the backend of {of}?",
        "To which service does {of} send its data?",
        "What service does {of} talk to?",
    ),
    (
        "Which of our systems does {of} need online?",
        "What must be up in the data centre so that {of} can upload?",
        "Where do the values recorded by {of} get stored?",
    ),
    gives="service",
    phrase="the backend service of {of}",
    listing="Which products use {value} as backend?",
    section="Technology",
)
LICENCE = Relation(
    "product.licence",
    (
        "A yearly licence for {subject} costs {value}.",
        "The licence price of {subject} is {value} a year.",
        "{subject} is licensed at {value} per user and year.",
        "The price list shows {value} for a licence of {subject}.",
        "Customers pay {value} for one licence of {subject}.",
        "Each licence of {subject} is charged at {value}.",
    ),
    "{of} licence price",
    (
        "What does a licence for {of} cost?",
        "What is the licence price of {of}?",
        "At what price is {of} licensed?",
    ),
    (
        "How expensive is it to use {of}?",
        "How much money should I put into the offer for {of}?",
        "What would one more user of {of} add to the bill?",
    ),
    value="EUR <95..990/5>",
    phrase="the licence price of {of}",
    compare="Which has the higher licence price, {a} or {b}?",
    section="Terms",
)
WARRANTY = Relation(
    "product.warranty",
    (
        "{subject} comes with a warranty of {value}.",
        "The warranty on {subject} runs for {value}.",
        "Norrvik repairs {subject} free of charge for {value} after delivery.",
        "Defects of {subject} are covered during the first {value}.",
        "For {value}, buyers of {subject} enjoy full warranty.",
        "The warranty period of {subject} ends {value} after purchase.",
    ),
    "{of} warranty period months",
    (
        "How long is the warranty on {of}?",
        "What is the warranty period of {of}?",
        "For how many months are defects of {of} covered?",
    ),
    (
        "Up to what age do we mend {of} at no cost?",
        "When does somebody who bought {of} have to start paying for fixes?",
        "How long does the guarantee of {of} last?",
    ),
    value="<12..120/6> months",
    phrase="the warranty period of {of}",
    listing="Which products have a warranty of {value}?",
    compare="Which has the longer warranty, {a} or {b}?",
    section="Terms",
)
PLANT = Relation(
    "product.plant",
    (
        "{subject} is manufactured at {value}.",
        "The plant that makes {subject} is {value}.",
        "Final assembly of {subject} takes place at {value}.",
        "{value} builds {subject}.",
        "The production line for {subject} stands at {value}.",
        "Every {subject} leaves the works at {value}.",
    ),
    "{of} manufacturing plant",
    (
        "At which plant is {of} manufactured?",
        "Where does the final assembly of {of} take place?",
        "Which plant makes {of}?",
    ),
    (
        "Which factory does {of} come from?",
        "Where are the workers who build {of}?",
        "In what building would I see {of} being made?",
    ),
    gives="site",
    phrase="the plant that makes {of}",
    listing="Which products are manufactured at {value}?",
    section="Technology",
)


PRODUCT = Kind(
    "product",
    ("product", "products"),
    (
        "{subject}",
        "{subject}: product page",
        "Product sheet: {subject}",
        "Selling {subject}",
        "Everything about {subject}",
    ),
    (MANAGER, BACKEND, LICENCE, WARRANTY, PLANT),
    PROSE,
)
