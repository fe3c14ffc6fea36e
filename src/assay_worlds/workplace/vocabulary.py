"""The forms that names of the organisation's teams, services, partners and things take."""

from __future__ import annotations

TEAM_FUNCTIONS = (
    *(
        "Firmware",
        "Calibration",
        "Field Support",
        "Payroll",
        "Data Platform",
        "Optics",
        "Procurement",
        "Legal",
    ),
    *(
        "Facilities",
        "Quality",
        "Documentation",
        "Security",
        "Metrology",
        "Sensor Design",
        "Logistics",
        "Training",
    ),
    *("Customer Care", "Finance Operations", "Applied Research", "Partner Sales", "Compliance", "Tooling"),
)
SERVICE_FORMS = (
    *(
        "sync",
        "relay",
        "store",
        "gate",
        "feed",
        "index",
        "vault",
        "broker",
        "queue",
        "ledger",
        "probe",
        "mirror",
    ),
    *("router", "planner", "archive", "signer"),
)
VENDOR_FORMS = (
    *("Logistics", "Supplies", "& Sons", "Catering", "Electronics", "Consulting", "Metalworks", "Cleaning"),
    *("Software", "Couriers", "Security", "Interiors", "Plastics", "Energy", "Translations", "Staffing"),
)
CUSTOMER_FORMS = (
    *(
        "Waterworks",
        "University",
        "Clinic",
        "Shipyard",
        "Dairy",
        "Observatory",
        "Airport",
        "Brewery",
        "Railways",
    ),
    *("Foundry", "Institute", "Paper Mill", "Port Authority", "Power", "Laboratories", "Council"),
)
ASSET_PREFIXES = ("KX", "OS", "TR", "LM", "PV", "QD", "SW", "VH", "BN", "CT", "GF", "HY")
YEARS_FROM, YEARS_TO = 2018, 2025
CODE_PREFIXES = ("FRM", "DOC", "TKT", "REF", "LOG", "ORD", "CHG", "NTC")
