"""The names and stock sentences the organisation is made of."""

from __future__ import annotations

COMPANY = "Norrvik Instruments"

# Town and currency, with how many units of it make one euro, so that amounts look local.
OFFICES = (
    ("Lisbon", "EUR", 1),
    ("Gdansk", "PLN", 4),
    ("Leeds", "GBP", 1),
    ("Turin", "EUR", 1),
    ("Bergen", "NOK", 11),
    ("Aarhus", "DKK", 7),
)

TEAMS = (
    "Platform Engineering",
    "Field Support",
    "Finance Operations",
    "People and Culture",
    "Security",
    "Data Science",
    "Firmware",
    "Facilities",
    "Legal",
    "Procurement",
    "Product Design",
    "Customer Success",
    "Quality Assurance",
    "Documentation",
    "Partner Sales",
    "Applied Research",
)

FIRST_NAMES = (
    *("Mara", "Tomasz", "Inês", "Henrik", "Aisha", "Paolo", "Greta", "Wojciech", "Beatriz", "Callum"),
    *("Signe", "Davide", "Nadia", "Olav", "Ruta", "Simon", "Chiara", "Jakub", "Leonor", "Magnus"),
    *("Farida", "Edward", "Kirsten", "Rafael", "Hanna", "Luca", "Yusuf", "Ingrid", "Teresa", "Niall"),
)
LAST_NAMES = (
    *("Lindqvist", "Kowalczyk", "Ferreira", "Hartley", "Rossetti", "Solberg", "Nygaard", "Wren", "Okafor"),
    *("Pereira", "Zielinska", "Ashworth", "Bianchi", "Haugen", "Mikkelsen", "Tavares", "Dudek", "Thackray"),
    *("Moretti", "Fjeld", "Rasmussen", "Almeida", "Baran", "Crossley", "Ferrara", "Brekke", "Holm", "Vance"),
)

ROLES = (
    "senior engineer",
    "analyst",
    "team lead",
    "coordinator",
    "specialist",
    "architect",
    "programme manager",
    "technician",
    "advisor",
    "researcher",
)

# Name, ticket prefix, what it is.
PRODUCTS = (
    ("Kestrel", "KES", "the edge gateway"),
    ("Marlin", "MAR", "the billing ledger"),
    ("Tarn", "TRN", "the time-series store"),
    ("Osprey", "OSP", "the alerting service"),
    ("Lantern", "LAN", "the dashboard suite"),
    ("Pylon", "PYL", "the identity broker"),
    ("Burrow", "BUR", "the archive"),
    ("Cobalt", "COB", "the technicians' mobile app"),
    ("Sextant", "SXT", "the mapping server"),
    ("Quill", "QUI", "the report builder"),
)

PROJECT_NAMES = (
    *("Heron", "Basalt", "Juniper", "Meridian", "Saffron", "Cinder", "Larch", "Polaris", "Thistle", "Anvil"),
    *("Drift", "Ember", "Gannet", "Hollow", "Isthmus", "Kelp", "Mistral", "Nimbus", "Orchard", "Plover"),
    *("Quarry", "Rowan", "Shale", "Tundra", "Umber", "Vesper", "Willow", "Yarrow", "Zephyr", "Bracken"),
)

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September", "October"),
    *("November", "December"),
)

FILLER = (
    "Questions are collected in the channel of the owning team and answered on Thursdays.",
    "Earlier wording on the shared drive is void, whatever its file name claims.",
    "Contractors are included unless their framework agreement says otherwise.",
    "Deviations are minuted and looked at again after two quarters.",
    "The works council was consulted and raised no objection.",
    "Translations are provided for convenience; the English wording prevails.",
    "Hardship cases are weighed individually and without precedent.",
    "An annex lists the cost centres concerned, in alphabetical order.",
    "Nothing here limits what the law grants in the country of contract.",
    "Spot checks are drawn at random by internal audit.",
    "The flowchart on the wiki is illustrative and lags behind this page.",
    "Where two rules collide, the stricter one is followed until the owner has clarified the matter.",
    "Printed copies are out of date the moment they leave the tray.",
    "Feedback from the pilot sites has been folded in.",
    "The responsible deputy acts in all matters during absences.",
    "Figures are rounded to the nearest unit and reviewed with the autumn budget.",
    "Ledger entries quote the cost centre, the quarter and the initials of the preparer.",
    "Please do not forward screenshots of this page to customers.",
    "Ambiguities are resolved in favour of the employee.",
    "The glossary at the end of the handbook explains abbreviations such as CAPA and RMA.",
)
