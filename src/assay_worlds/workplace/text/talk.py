"""How minutes, memos and threads of mail are worded: talk, which states no relation of anything."""

from __future__ import annotations

from assay_worlds.workplace.kind import Kind
from assay_worlds.workplace.text.memo_prose import PROSE as MEMO_PROSE
from assay_worlds.workplace.text.minutes_prose import PROSE as MINUTES_PROSE
from assay_worlds.workplace.text.thread_prose import PROSE as THREAD_PROSE

MINUTES = Kind(
    "minutes",
    ("meeting", "meetings"),
    (
        "Minutes of the {subject}",
        "Notes from the {subject}",
        "Record of the {subject}",
        "{subject}: what was said",
    ),
    (),
    MINUTES_PROSE,
    names=(
        (
            "[weekly|fortnightly|monthly|quarterly|extraordinary|postponed|joint] [firmware|packaging|"
            "calibration|sales|logistics|hiring|tooling|energy|documentation|support|prototype|supplier|fair|"
            "canteen|relocation|archive|network|sensor|pricing|service] [round|review|stand-up|meeting|"
            "briefing|retrospective|workshop|call]"
        ),
    ),
)

MEMO = Kind(
    "memo",
    ("memo", "memos"),
    (
        "Memo: {subject}",
        "Internal note on {subject}",
        "Circular: {subject}",
        "To all staff: {subject}",
    ),
    (),
    MEMO_PROSE,
    names=(
        (
            "[use|storage|labelling|return|cleaning|naming|sharing|counting|lending|repair|disposal|"
            "ordering] of [samples|shared folders|demo devices|meeting rooms|pallets|headsets|name badges|"
            "spare cables|notice boards|test accounts|delivery notes|old monitors|lab coats|coffee machines|"
            "mail lists|whiteboards|project codes|calendars]"
        ),
        (
            "[changes|delays|questions|progress|mistakes|habits|surprises] in [the shipping hall|the print "
            "room|our invoices|the staff portal|guest access|the test field|winter opening hours|customer "
            "letters|the archive|video calls|our signage|stocktaking]"
        ),
    ),
)

THREAD = Kind(
    "thread",
    ("thread", "threads"),
    (
        "Re: {subject}",
        "Thread: {subject}",
        "Mail exchange about {subject}",
        "Fwd: {subject}",
    ),
    (),
    THREAD_PROSE,
    names=(
        (
            "[question about|trouble with|thoughts on|feedback on|doubts about|help with|news of|photos "
            "of|wording of|quick check of|second try at] [the demo unit|yesterday's shipment|the new "
            "label|the probe holder|the draft letter|the test results|the spare crate|the booth design|the "
            "training slides|the login page|the noisy fan|the supplier visit|the wiring plan|the export "
            "papers|the meeting notes|the survey|the old samples|the display glass|the backup tapes|the room "
            "booking|the error message|the price sheet|the farewell party|the sensor cable]"
        ),
    ),
)
