"""What release notes say: defects repaired and defaults moved."""

from __future__ import annotations

from assay_worlds.organisation.phrase import Phrase


def _defect(state: str, keyword: str, natural: str, paraphrase: str) -> Phrase:
    """A repaired defect: the sentence names the ticket, the question asks for the version it lies in."""
    return Phrase(
        f"{{ticket}}, repaired in {{value}}: {state}",
        keyword,
        f"Which release of {{product}} repaired {natural}?",
        f"{paraphrase} Which {{product}} repaired that?",
    )


DEFECTS = (
    _defect(
        "the exporter no longer emits duplicate records after a retry.",
        "{ticket} {product} exporter",
        "the exporter that emits duplicate records after a retry",
        "Rows were exported twice when sending was repeated.",
    ),
    _defect(
        "a deadlock between the compactor and the ingest thread has been removed.",
        "{product} deadlock compactor ingest thread",
        "the deadlock between compactor and ingest thread",
        "The process hung while loading data and cleaning up.",
    ),
    _defect(
        "timestamps around the daylight-saving switch are rendered in the right order.",
        "{ticket} {product} timestamps",
        "the order of timestamps around the daylight-saving switch",
        "Events came out jumbled when summer time began.",
    ),
    _defect(
        "memory consumed by stale sessions is reclaimed by the janitor.",
        "{product} memory stale sessions reclaimed janitor",
        "the memory consumed by stale sessions",
        "RAM leak from users who had left long ago.",
    ),
    _defect(
        "truncated certificates are rejected during the handshake.",
        "{ticket} {product} certificates handshake",
        "the acceptance of truncated certificates during the handshake",
        "Invalid TLS credentials were accepted by the server.",
    ),
    _defect(
        "the pagination cursor survives a failover of the primary node.",
        "{product} pagination cursor failover primary node",
        "the pagination cursor lost at a failover",
        "Paging through results broke whenever the main server crashed.",
    ),
    _defect(
        "umlauts and cedillas in tenant names are preserved in the audit trail.",
        "{ticket} audit trail umlauts",
        "umlauts and cedillas in tenant names",
        "Customers with accented characters looked garbled in the log history.",
    ),
    _defect(
        "a race in the quota counter no longer grants negative allowances.",
        "{product} race quota counter negative allowances",
        "the race in the quota counter",
        "Usage limits went below zero when requests came at once.",
    ),
    _defect(
        "thumbnails honour the orientation flag of the original picture.",
        "{ticket} thumbnails",
        "thumbnails that ignore the orientation flag",
        "Photo previews appeared rotated sideways.",
    ),
    _defect(
        "the scheduler skips a job whose predecessor was cancelled.",
        "{product} scheduler skips job predecessor cancelled",
        "the scheduler running jobs whose predecessor was cancelled",
        "Tasks ran although the one before had been aborted.",
    ),
    _defect(
        "colour contrast of disabled buttons meets the accessibility guideline.",
        "{ticket} {product} contrast",
        "the colour contrast of disabled buttons",
        "Greyed controls were unreadable for people with poor eyesight.",
    ),
    _defect(
        "bulk deletion is confined to the folder selected by the operator.",
        "{product} bulk deletion confined folder selected",
        "bulk deletion beyond the selected folder",
        "Removing many files wiped neighbouring directories.",
    ),
    _defect(
        "the barometric driver compensates for altitude above two thousand metres.",
        "{ticket} barometric driver",
        "the barometric driver above two thousand metres",
        "Air pressure sensor readings were wrong high in the mountains.",
    ),
    _defect(
        "spreadsheet output escapes leading equals signs in cell contents.",
        "{product} spreadsheet output escapes equals signs",
        "unescaped leading equals signs in spreadsheet output",
        "Formula injection in Excel exports.",
    ),
    _defect(
        "the standby radio wakes from deep sleep when the beacon is received.",
        "{ticket} standby radio",
        "the standby radio that stays in deep sleep",
        "Wireless would not wake up again after saving power.",
    ),
    _defect(
        "the reminder mail is dispatched once for recurring appointments.",
        "{product} reminder mail recurring appointments",
        "repeated reminder mail for recurring appointments",
        "Weekly meetings flooded us with the same notification.",
    ),
    _defect(
        "fuzzy lookup tolerates a transposed pair of letters in serial numbers.",
        "{ticket} fuzzy lookup",
        "fuzzy lookup of transposed letters in serial numbers",
        "Searching for a device with a typo found nothing.",
    ),
    _defect(
        "encryption keys are rotated without interrupting open uploads.",
        "{product} encryption keys rotated open uploads",
        "uploads interrupted while encryption keys are rotated",
        "File transfers broke off whenever cryptographic secrets were renewed.",
    ),
)

# Setting, how a user would ask for it, values it may take.
SETTINGS = (
    ("retention_days", "how many days is old data retained", ("14", "21", "45", "60", "120", "180")),
    ("batch_size", "how many rows make one batch", ("64", "128", "256", "500", "750", "1000")),
    ("heartbeat_interval", "how often do devices send a heartbeat", ("15 s", "20 s", "40 s", "50 s", "75 s")),
    ("max_connections", "how many clients can connect at once", ("150", "240", "320", "480", "640")),
    ("retry_limit", "how many times is a failed call retried", ("2", "3", "5", "7", "8")),
    (
        "session_timeout",
        "when does an idle session expire",
        ("12 min", "18 min", "25 min", "35 min", "50 min"),
    ),
    ("compression_level", "how strongly are files compressed", ("2", "4", "6", "7", "9")),
    ("cache_ceiling", "how much memory may the cache take", ("384 MB", "512 MB", "768 MB", "1536 MB")),
)

SETTING = Phrase(
    "The default of `{setting}` moves from {old} to {value}.",
    "{product} {version} {setting} default",
    "What is the default of {setting} since {product} {version}?",
    "By default in {product} {version}, {plain}?",
)

UPGRADE = (
    "Stop the workers before the binaries are exchanged and start them in reverse order.",
    "Installations behind a proxy need the new root bundle first.",
    "The migration rewrites the catalogue and cannot be interrupted.",
    "Downgrading is supported as long as no new partition has been created.",
    "Plugins compiled against an earlier interface are quarantined at start.",
    "Checksums and signatures lie beside the artefacts.",
    "Air-gapped sites receive the bundle on encrypted media.",
    "A dry run prints the statements without touching the catalogue.",
    "Arm builds are experimental and carry no warranty.",
    "The sample configuration has been reordered; semantics are unchanged.",
)
