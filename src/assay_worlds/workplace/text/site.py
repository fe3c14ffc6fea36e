"""How pages about the buildings are worded."""

from __future__ import annotations

from assay_worlds.workplace.kind import Kind, Relation
from assay_worlds.workplace.text.site_prose import PROSE

SITE = Kind(
    "site",
    ("site", "sites"),
    (
        "{subject}: building page",
        "All about {subject}",
        "{subject}: facts for staff and visitors",
        "Building guide to {subject}",
    ),
    (
        Relation(
            "site.manager",
            (
                "The site manager of {subject} is {value}.",
                "{subject} is managed by {value}.",
                "Building matters at {subject} are settled by {value}.",
                "{value} runs {subject} from day to day.",
                "Whatever breaks at {subject} is reported to {value}, who is in charge of the premises.",
            ),
            "site manager {of}",
            (
                "Who is the site manager of {of}?",
                "By whom is {of} managed?",
                "Who is in charge of the premises at {of}?",
            ),
            (
                "Whom do I call about a leaking roof at {of}?",
                "Who takes care of the bricks and mortar of {of}?",
                "Which person has the say inside {of}?",
            ),
            gives="person",
            phrase="the site manager of {of}",
            listing="Which sites are managed by {value}?",
            section="Contacts",
        ),
        Relation(
            "site.capacity",
            (
                "{subject} holds {value}.",
                "The capacity of {subject} is {value} under the fire certificate.",
                "At most {value} may be inside {subject} at once.",
                "{subject} was laid out for {value}.",
                "Evacuation plans for {subject} reckon with {value}.",
            ),
            "capacity people {of}",
            (
                "What is the capacity of {of}?",
                "For how many people was {of} laid out?",
                "How many people may be inside {of} at once?",
            ),
            (
                "How many colleagues fit into {of}?",
                "How full can {of} get before it is too crowded?",
                "How big a crowd can gather in {of}?",
            ),
            value="<40..960/20> people",
            phrase="the capacity of {of}",
            compare="Which has the larger capacity, {a} or {b}?",
            section="Building",
        ),
        Relation(
            "site.address",
            (
                "The street address of {subject} is {value}.",
                "Parcels for {subject} are sent to {value}.",
                "{subject} is found at {value}.",
                "Taxi drivers know {subject} as {value}.",
                "On the map, {subject} is the building at {value}.",
            ),
            "street address {of}",
            (
                "What is the street address of {of}?",
                "To which street address are parcels for {of} sent?",
                "Where on the map is {of} found?",
            ),
            (
                "What do I tell the driver if I want to go to {of}?",
                "Where does the postman bring letters for {of}?",
                "Which street and door lead to {of}?",
            ),
            value=(
                "<2..188/2> [Foundry|Canal|Station|Mill|Chapel|Orchard|Quay|Signal|Brewery|Garden|Castle|"
                "Weaver|Lime|Market] [Road|Street|Lane|Row]"
            ),
            phrase="the street address of {of}",
            section="Building",
        ),
        Relation(
            "site.cleaner",
            (
                "Cleaning at {subject} is done by {value}.",
                "{value} holds the cleaning contract for {subject}.",
                "The crews that mop the floors of {subject} come from {value}.",
                "For cleaning, {subject} relies on {value}.",
                "Bins and windows at {subject} are in the hands of {value}.",
            ),
            "cleaning contractor {of}",
            (
                "Which vendor does the cleaning at {of}?",
                "Who holds the cleaning contract for {of}?",
                "On whom does {of} rely for cleaning?",
            ),
            (
                "Who scrubs and sweeps at {of}?",
                "Which firm empties the wastebaskets in {of}?",
                "Who keeps {of} tidy for us?",
            ),
            gives="vendor",
            phrase="the cleaning contractor of {of}",
            listing="Which sites are cleaned by {value}?",
            section="Contacts",
        ),
        Relation(
            "site.badge",
            (
                "The badge that opens {subject} is {value}.",
                "{subject} is entered with a {value} badge.",
                "At the gates of {subject}, the colour of the badge is {value}.",
                "Reception at {subject} hands out badges in {value}.",
                "Nobody walks around {subject} without a badge whose colour is {value}.",
            ),
            "badge colour {of}",
            (
                "What colour is the badge for {of}?",
                "With which badge is {of} entered?",
                "In what colour are badges handed out at {of}?",
            ),
            (
                "Which card gets me through the door of {of}?",
                "What shade of pass do I wear in {of}?",
                "What does the thing around my neck look like when I visit {of}?",
            ),
            value="[red|blue|green|pink|violet|white|grey|yellow|brown|black|silver|turquoise]",
            phrase="the badge colour of {of}",
            listing="Which sites are entered with a {value} badge?",
            section="Access",
        ),
    ),
    PROSE,
    names=(
        (
            "[Heron|Alder|Larch|Granite|Lantern|Harbour|Beacon|Juniper|Slate|Falcon|Orchard|Copper|Meadow|"
            "Anchor|Willow|Quarry|Tower|Amber|Marten|Cobalt|Thistle|Rowan|Swift|Cedar|Flint|Bramble|Osprey|"
            "Linden|Pewter|Sorrel] [House|Court|Hall|Mill|Works|Yard|Annex|Pavilion|Wharf|Lodge]"
        ),
    ),
)
