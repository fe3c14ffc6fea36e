"""What is argued about: matters settled by e-mail, and matters settled by a decision record."""

from __future__ import annotations

from typing import NamedTuple

from assay_worlds.organisation.phrase import Phrase


class Matter(NamedTuple):
    """A question that people disagree on, and the sentence that settles it; `{code}` is its number."""

    key: str
    subject: str
    opening: str  # what is to be settled: support for the answer, not the answer
    objections: tuple[str, ...]
    settled: Phrase


THREADS = (
    Matter(
        "venue",
        "Venue for the {project} summit",
        "We still lack a venue for the {project} summit; the agency holds two options until Friday.",
        (
            "The monastery is charming but the nearest tram is a mile off, and half of us arrive late.",
            "I would rather pay for daylight than for chandeliers.",
            "The harbour hall echoes terribly; last year nobody understood the panel.",
        ),
        Phrase(
            "Settled then: the {project} summit takes place in {value}.",
            "{project} summit venue takes place",
            "Where does the {project} summit take place?",
            "To which spot do I travel for the {project} get-together?",
            (
                "the old tannery",
                "the botanical institute",
                "the rowing club",
                "the customs house",
                "the sail loft",
            ),
        ),
    ),
    Matter(
        "cutover",
        "{product} cutover weekend in {office}",
        "The {office} site has to pick a weekend for moving its tenants to the new {product} cluster.",
        (
            "Quarter close is sacrosanct; Finance will not sign anything that touches it.",
            "Two of the three database people are at a wedding, so please not then.",
            "A later slot collides with the fibre works announced by the city.",
        ),
        Phrase(
            "We go for {value}: the {product} cutover in {office} starts at 21:00 as change CHG-{code}.",
            "CHG-{code} {product} cutover",
            "Which weekend was chosen for the {product} cutover in {office}?",
            "When do the {office} customers get switched over to the new {product} machines?",
            ("14 March", "21 March", "16 May", "6 June", "19 September", "10 October", "7 November"),
        ),
    ),
    Matter(
        "vendor",
        "Courier contract for {office}",
        "The courier contract for {office} runs out and Procurement wants a recommendation this week.",
        (
            "Their tracking page lies; parcels are 'delivered' while they still sit on the van.",
            "The cheapest offer excludes pallets, and pallets are all we ship.",
            "I do not mind paying more if somebody answers the phone.",
        ),
        Phrase(
            "The courier contract for {office} is awarded to {value} for two years.",
            "courier contract {office} awarded",
            "Who was awarded the courier contract for {office}?",
            "Which firm now carries our parcels out of {office}?",
            ("Swiftline", "Ambervan", "Nordbud", "Cargovia", "Pelican Post", "Rapidex"),
        ),
    ),
    Matter(
        "headcount",
        "Hiring for {project}",
        "{project} asked for reinforcements and we must tell the recruiters a number.",
        (
            "Every hire we add before the interface is stable will be idle for a month.",
            "The last reorganisation already took two people from us.",
            "Contractors would be quicker, although the handover cost us dearly in spring.",
        ),
        Phrase(
            "Agreed with the controller: {project} may recruit {value} this half-year.",
            "{project} recruit half-year controller",
            "How many may {project} recruit this half-year?",
            "By how much is the {project} crew allowed to grow?",
            ("one engineer", "two engineers", "three engineers", "four engineers", "five engineers"),
        ),
    ),
    Matter(
        "discount",
        "Rebate for the {office} municipality",
        "The {office} municipality wants a rebate on {product} before it renews.",
        (
            "If word gets round, every council in the region will knock on our door.",
            "They pay late, but they pay, and they are our reference for the whole coast.",
            "I would sooner add training hours than touch the list price.",
        ),
        Phrase(
            "Final word: the municipality of {office} is granted a rebate of {value} on {product}.",
            "rebate municipality {office} {product} granted",
            "What rebate on {product} was granted to the {office} municipality?",
            "How much cheaper did we make {product} for the town hall in {office}?",
            ("6 percent", "7.5 percent", "9 percent", "11 percent", "12.5 percent", "14 percent"),
        ),
    ),
    Matter(
        "outage",
        "Follow-up to the {product} incident in {office}",
        "Customers in {office} could not reach {product} on Tuesday and the cause is still disputed.",
        (
            "The graphs do not support the network theory; packet loss was nil.",
            "It happened minutes after the configuration push, which is hardly a coincidence.",
            "Let us not blame the vendor before the logs have been read.",
        ),
        Phrase(
            "The root cause of the {product} incident in {office}, INC-{code}, was {value}.",
            "INC-{code} {product} root cause",
            "What was the root cause of the {product} incident in {office}?",
            "Why was {product} down for people in {office}?",
            (
                "an expired intermediate certificate",
                "a full inode table",
                "a misrouted cooling alarm",
                "a stale resolver entry",
                "a faulty power supply",
                "a leap-second bug",
            ),
        ),
    ),
    Matter(
        "canteen",
        "Canteen trial in {office}",
        "The caterer in {office} proposes a trial and needs our consent by the end of the week.",
        (
            "Night shift gets cold leftovers as it is.",
            "The allergy labels were wrong three times in May.",
            "Nobody under thirty eats at noon any more.",
        ),
        Phrase(
            "The canteen in {office} will try {value} from the first of next month.",
            "canteen {office} try next month",
            "What will the canteen in {office} try?",
            "What changes about lunch in {office}?",
            ("a meat-free Monday", "a late counter", "pay-by-weight plates", "a soup bar", "reusable bowls"),
        ),
    ),
    Matter(
        "pilot",
        "Pilot customer for {project}",
        "{project} needs one pilot customer who forgives rough edges.",
        (
            "They have no test environment, so every mishap would hit production.",
            "Legal has not cleared the addendum for public bodies.",
            "Their chief engineer is generous with time but not with praise.",
        ),
        Phrase(
            "{value} has signed as the pilot customer of {project}.",
            "pilot customer {project} signed",
            "Who signed as the pilot customer of {project}?",
            "Which client is the first to try {project}?",
            ("Ostfold Waterworks", "Camara Ferries", "Brightwell Dairy", "Silesia Rail", "Langhe Cellars"),
        ),
    ),
)

DECISIONS = (
    Matter(
        "storage",
        "Storage engine for {project}",
        "{project} writes far more than it reads, and the present tables groan under the load.",
        (
            "A columnar layout compresses well but punishes single-row updates.",
            "A log-structured tree absorbs bursts at the price of read amplification.",
            "Staying put costs nothing today and a rewrite next year.",
        ),
        Phrase(
            "DR-{code}: {project} stores its measurements in {value}.",
            "DR-{code} storage engine",
            "In which storage engine does {project} keep its measurements?",
            "What database did the {project} people pick?",
            ("RocksDB", "ClickHouse", "TimescaleDB", "FoundationDB", "SQLite", "Cassandra"),
        ),
    ),
    Matter(
        "region",
        "Hosting region of {project}",
        "Tenants of {project} ask where their data resides, and contracts must name a region.",
        (
            "The northern region is cooler and cheaper but adds latency for Iberian sites.",
            "Two regions double the invoice and halve the worry.",
            "Sovereignty clauses rule out anything beyond the Union.",
        ),
        Phrase(
            "DR-{code}: {project} is hosted in {value}.",
            "{project} hosted region",
            "In which region is {project} hosted?",
            "In what country do the machines behind {project} stand?",
            ("Finland", "Ireland", "Austria", "Luxembourg", "Estonia", "Belgium"),
        ),
    ),
    Matter(
        "language",
        "Implementation language of {project}",
        "The prototype of {project} was scripted in a hurry and must now be rebuilt properly.",
        (
            "Garbage collection pauses have bitten us in the acquisition path before.",
            "Hiring is easier for mainstream choices.",
            "Memory safety would spare us a whole class of field recalls.",
        ),
        Phrase(
            "DR-{code}: The core of {project} is implemented in {value}.",
            "DR-{code} core language",
            "In which language is the core of {project} implemented?",
            "What do I have to know to write code for {project}?",
            ("Rust", "Kotlin", "Elixir", "OCaml", "Zig", "Swift"),
        ),
    ),
    Matter(
        "sunset",
        "Sunset of the legacy interface of {project}",
        "Two interfaces of {project} are maintained in parallel and drift apart.",
        (
            "The largest reseller has frozen its own integration until the autumn.",
            "Each month of overlap costs a week of regression testing.",
            "A silent shutdown would poison the renewal talks.",
        ),
        Phrase(
            "DR-{code}: The legacy interface of {project} is withdrawn on {value}.",
            "legacy interface {project} withdrawn",
            "When is the legacy interface of {project} withdrawn?",
            "Until when can partners go on using the old way into {project}?",
            ("31 January", "28 February", "30 April", "30 June", "31 August", "30 November"),
        ),
    ),
    Matter(
        "licence",
        "Licensing model of {project}",
        "Sales and Legal disagree on how {project} should be charged for.",
        (
            "Seats are simple to audit and simple to circumvent.",
            "Metering needs a counter that customers trust.",
            "A flat fee pleases councils and starves us in a good year.",
        ),
        Phrase(
            "DR-{code}: {project} is licensed {value}.",
            "DR-{code} licensing",
            "How is {project} licensed?",
            "On what basis do customers get billed for {project}?",
            ("by connected device", "by named seat", "by stored gigabyte", "by site", "by flat annual fee"),
        ),
    ),
    Matter(
        "supplier",
        "Enclosure supplier of {project}",
        "The enclosure for {project} cracks in frost and the mould is worn.",
        (
            "Die casting needs a tool that pays off after ten thousand pieces.",
            "Recycled polymer yellows in the sun, which customers mistake for damage.",
            "The present firm delivers late but never wrong.",
        ),
        Phrase(
            "DR-{code}: Enclosures for {project} are sourced from {value}.",
            "enclosures {project} sourced supplier",
            "From whom are the enclosures for {project} sourced?",
            "Who makes the plastic boxes for {project}?",
            ("Halvorsen Plast", "Estampados Douro", "Pennine Mouldings", "Fonderia Susa", "Kaszub Form"),
        ),
    ),
    Matter(
        "sampling",
        "Sampling rate of {project}",
        "Field units of {project} drain their cells faster than the brochure promises.",
        (
            "Aliasing hides exactly the gusts that the harbour authority pays us for.",
            "Adaptive schemes are elegant and impossible to certify.",
            "Radio dominates the budget, not the converter.",
        ),
        Phrase(
            "DR-{code}: Units of {project} sample once every {value}.",
            "DR-{code} sampling rate",
            "How often do units of {project} sample?",
            "How many readings does a {project} device take?",
            ("4 seconds", "6 seconds", "12 seconds", "25 seconds", "90 seconds"),
        ),
    ),
    Matter(
        "owner",
        "Ownership of {project} after launch",
        "Once {project} leaves the laboratory somebody has to answer the pager for it.",
        (
            "A shared rota between two teams means that neither feels responsible.",
            "Those who built it know it best and are tired of it.",
            "Budget follows ownership, which explains most of the enthusiasm.",
        ),
        Phrase(
            "DR-{code}: After launch {project} is operated by {value}.",
            "{project} operated after launch",
            "Which team operates {project} after launch?",
            "Whom do I call when {project} breaks once it is live?",
            (
                "Field Support",
                "Customer Success",
                "Security",
                "Data Science",
                "Firmware",
                "Quality Assurance",
            ),
        ),
    ),
)

GREETING = ("Dear all,", "Hello everybody,", "Hi team,", "Good morning,", "Colleagues,")
AGREEING = (
    "Thank you for the frank exchange; I have spoken to everyone concerned.",
    "After a night's sleep and two phone calls the picture is clearer.",
    "Not everybody will like this, but we cannot leave it open any longer.",
    "The steering group met at noon and was unanimous in the end.",
    "I have weighed the costs against the nuisance.",
)
CLOSING = (
    "Please update the wiki accordingly.",
    "Shout today if this breaks anything on your side.",
    "I will inform the others in the stand-up.",
    "Minutes follow.",
    "Best wishes until Monday.",
)
ANNOUNCING = (
    "A reminder, since the question keeps coming up:",
    "For those who were away, here is the wording again:",
    "Copied from the official page, word for word:",
    "To spare you the search:",
)
