"""How inventory pages of the assets are worded."""

from __future__ import annotations

from assay_worlds.workplace.kind import Kind, Relation
from assay_worlds.workplace.text.asset_prose import PROSE

ASSET = Kind(
    "asset",
    ("asset", "assets"),
    (
        "{subject}: inventory page",
        "Inventory entry for {subject}",
        "Equipment sheet of {subject}",
        "{subject} in the equipment register",
    ),
    (
        Relation(
            "asset.custodian",
            (
                "The custodian of {subject} is {value}.",
                "{value} has custody of {subject}.",
                "{subject} has been signed out to the care of {value}.",
                "In the equipment register, {subject} is entered against the name of {value}.",
                "Loss of or damage to {subject} is a matter for {value}, who looks after it.",
            ),
            "custodian {of}",
            (
                "Who is the custodian of {of}?",
                "Against whose name is {of} entered in the register?",
                "To whose care has {of} been signed out?",
            ),
            (
                "Who do I ask if I want to borrow {of}?",
                "Who would be in trouble if {of} vanished?",
                "Which colleague keeps an eye on {of}?",
            ),
            gives="person",
            phrase="the custodian of {of}",
            listing="Which assets are in the custody of {value}?",
            section="Keeping",
        ),
        Relation(
            "asset.room",
            (
                "{subject} stands in {value}.",
                "The permanent location of {subject} is {value}.",
                "{subject} is to be brought back to {value} after use.",
                "Stocktakers find {subject} in {value}.",
                "It is {value} that houses {subject}.",
            ),
            "location room {of}",
            (
                "In which room does {of} stand?",
                "What is the permanent location of {of}?",
                "To which room is {of} brought back after use?",
            ),
            (
                "Where do I find {of}?",
                "Behind which door is {of} kept?",
                "Where do I walk to if I want to use {of}?",
            ),
            value="room [B|C|D|F|G|H|K|L]<101..389/3>",
            phrase="the location of {of}",
            section="Keeping",
        ),
        Relation(
            "asset.model",
            (
                "{subject} is of the model {value}.",
                "The type plate of {subject} reads {value}.",
                "As to make, {subject} belongs to the {value} series.",
                "Spare parts for {subject} are ordered under the model name {value}.",
                "The register lists {subject} as a unit of the {value} type.",
            ),
            "model type {of}",
            (
                "What model is {of}?",
                "What does the type plate of {of} read?",
                "Under which model name are spare parts for {of} ordered?",
            ),
            (
                "What make is {of}?",
                "Which manual fits {of}?",
                "What sort of machine exactly is {of}?",
            ),
            value=(
                "[Halden 20|Halden 40|Corvex S|Corvex M|Tarn Mark II|Tarn Mark III|Opal 900|Opal 1100|Bremer "
                "KL|Bremer XL|Sable Pro|Vantik Seven|Lyra Compact|Ostro Duo|Quill 5]"
            ),
            phrase="the model of {of}",
            listing="Which assets are of the model {value}?",
            section="Make and origin",
        ),
        Relation(
            "asset.serial",
            (
                "The serial number of {subject} is {value}.",
                "{value} is stamped into the frame of {subject} as its serial number.",
                "{subject} bears the serial {value}.",
                "Warranty claims on {subject} quote {value} as the serial.",
                "The maker shipped {subject} with the serial number {value}.",
            ),
            "serial number {of}",
            (
                "What is the serial number of {of}?",
                "Which serial does {of} bear?",
                "Which serial is quoted in warranty claims on {of}?",
            ),
            (
                "What digits do I read out to the manufacturer about {of}?",
                "What is engraved on {of}?",
                "By what mark does the maker tell {of} from its sisters?",
            ),
            value="[NW|ZT|QR|BL|MY]<204011..987611/13>",
            phrase="the serial number of {of}",
            section="Make and origin",
        ),
        Relation(
            "asset.calibrated",
            (
                "{subject} was last calibrated on {value}.",
                "The latest calibration of {subject} took place on {value}.",
                "The sticker on {subject} gives {value} as the day of its calibration.",
                "A certificate of {value} attests the calibration of {subject}.",
                "The calibration laboratory last had {subject} on its bench on {value}.",
            ),
            "last calibration date {of}",
            (
                "When was {of} last calibrated?",
                "What day of calibration does the sticker on {of} give?",
                "On which date did the latest calibration of {of} take place?",
            ),
            (
                "When was {of} last checked against a standard?",
                "Since when have the readings of {of} been trusted?",
                "What day is on the newest certificate for {of}?",
            ),
            value=(
                "<1..28> [January|February|March|April|May|June|July|August|September|October|November|"
                "December] <2021..2025>"
            ),
            phrase="the date of the last calibration of {of}",
            section="Condition",
        ),
        Relation(
            "asset.supplier",
            (
                "{subject} was bought from {value}.",
                "The supplier of {subject} is {value}.",
                "{value} delivered {subject} and set it up.",
                "The invoice for {subject} came from {value}.",
                "{subject} came into the house by way of {value}.",
            ),
            "supplier {of}",
            (
                "Who is the supplier of {of}?",
                "From whom was {of} bought?",
                "Which vendor delivered {of}?",
            ),
            (
                "Where did we get {of}?",
                "Which firm sold us {of}?",
                "Whom did we pay for {of}?",
            ),
            gives="vendor",
            phrase="the supplier of {of}",
            listing="Which assets were bought from {value}?",
            section="Make and origin",
        ),
    ),
    PROSE,
    names=(
        (
            "[Oscilloscope|Climate Chamber|Spectrum Analyser|Torque Bench|Vibration Table|Pressure "
            "Rig|Reference Scale|Laser Tracker|Signal Generator|Furnace|Wind Tunnel|Forklift|Dew Point "
            "Meter|Gauge Block Set|Power Supply|Salt Spray Cabinet|Microscope|Flow Loop|Leak Tester|Label "
            "Printer] <101..999>"
        ),
    ),
)
