"""How release notes of the products are worded, one edition a version."""

from __future__ import annotations

from assay_worlds.workplace.kind import Kind, Relation
from assay_worlds.workplace.text.release_prose import PROSE

RELEASE = Kind(
    "release",
    ("product", "products"),
    (
        "{subject}: release notes",
        "What changed in {subject}",
        "Release of {subject}",
        "Notes for operators of {subject}",
    ),
    (
        Relation(
            "release.timeout",
            (
                "{subject} {when} gives up on a silent peer after {value} unless told otherwise.",
                "As shipped, version {when} of {subject} sets the request timeout to {value}.",
                "In {when}, calls made by {subject} time out at {value} by default.",
                "The factory setting of the timeout is {value} in release {when} of {subject}.",
                "Out of the box, {subject} waits {value} for an answer in {when}.",
            ),
            "{of} {when} default timeout",
            (
                "What is the default timeout of {of} in version {when}?",
                "After how many seconds do calls of {of} time out in {when}?",
                "To what is the request timeout set in release {when} of {of}?",
            ),
            (
                "How long does {of} hang around for a reply in {when} if I change nothing?",
                "When does {of} stop hoping for a response in {when}?",
                "How patient is {of} with a slow other side in {when}?",
            ),
            value="<15..300/15> seconds",
            phrase="the default timeout of {of} in {when}",
            compare="Which has the longer default timeout in version {when}, {a} or {b}?",
            section="Connections",
        ),
        Relation(
            "release.batch",
            (
                "Version {when} of {subject} writes {value} in one batch.",
                "Unless configured differently, {subject} {when} groups {value} before each upload.",
                "The batch size of {subject} was fixed at {value} for {when}.",
                "In {when}, a bundle sent by {subject} holds {value}.",
                "The standard portion that {subject} uploads under {when} consists of {value}.",
            ),
            "{of} {when} batch size",
            (
                "What is the batch size of {of} in version {when}?",
                "How many records does {of} group in one batch in {when}?",
                "How large is a bundle sent by {of} in release {when}?",
            ),
            (
                "How much does {of} push out in one go in {when}?",
                "How many measurements travel together from {of} in {when}?",
                "In portions of what size does {of} hand over its data in {when}?",
            ),
            value="<50..1000/50> records",
            phrase="the batch size of {of} in {when}",
            compare="Which has the larger batch size in version {when}, {a} or {b}?",
            section="Throughput",
        ),
        Relation(
            "release.log_level",
            (
                "The log level of {subject} {when} is {value} after a fresh installation.",
                "A fresh {subject} of version {when} writes its log at level {value}.",
                "In version {when}, the logger inside {subject} starts out on {value}.",
                "Installers of {subject} {when} leave logging at {value}.",
                "In {when}, verbosity of the {subject} journal is preset to {value}.",
            ),
            "{of} {when} log level",
            (
                "Which log level does {of} have in version {when}?",
                "At what level does a fresh {of} of version {when} write its log?",
                "To what is the verbosity of the journal preset in {when} of {of}?",
            ),
            (
                "How chatty is {of} in {when} when nobody has touched the configuration?",
                "How much detail about its own doings does {of} put on disk in {when} to begin with?",
                "What kind of messages does {of} jot down in {when} right after setup?",
            ),
            value="[silent|fatal|error|warning|notice|info|verbose|debug|trace|audit|summary|full]",
            phrase="the log level of {of} in {when}",
            listing="Which products start out with the log level {value} in version {when}?",
            section="Operation",
        ),
        Relation(
            "release.cache",
            (
                "{subject} {when} reserves {value} for its cache.",
                "The cache of {subject} grows to {value} in version {when} and then evicts.",
                "Under {when}, {value} of memory are set aside by {subject} for cached readings.",
                "In release {when}, the default cache size in {subject} equals {value}.",
                "Operators of {subject} find the cache preset to {value} in {when}.",
            ),
            "{of} {when} cache size",
            (
                "What is the default cache size of {of} in version {when}?",
                "How much memory does {of} reserve for its cache in {when}?",
                "To what size does the cache of {of} grow in release {when}?",
            ),
            (
                "How much room does {of} take in {when} to remember recent values?",
                "How much does {of} keep in RAM in {when} so as not to fetch it twice?",
                "How many megabytes does {of} claim in {when} just to be quick?",
            ),
            value="<64..1024/32> MB",
            phrase="the cache size of {of} in {when}",
            compare="Which has the larger cache in version {when}, {a} or {b}?",
            section="Throughput",
        ),
        Relation(
            "release.retry",
            (
                "A failed transfer is repeated by {subject} {when} for up to {value}.",
                "The retry limit in version {when} of {subject} is {value}.",
                "{subject} gives a job up for lost after {value} in {when}.",
                "In {when}, {value} are made by {subject} before an error surfaces.",
                "Release {when} of {subject} allows {value} per request by default.",
            ),
            "{of} {when} retry limit",
            (
                "What is the retry limit of {of} in version {when}?",
                "How many attempts does {of} make in {when} before an error surfaces?",
                "After how many attempts does {of} give a job up in release {when}?",
            ),
            (
                "How often does {of} try again in {when} when sending goes wrong?",
                "How stubborn is {of} in {when} if the line is bad?",
                "How many chances does something get in {when} before {of} reports trouble?",
            ),
            value="<2..14> attempts",
            phrase="the retry limit of {of} in {when}",
            listing="Which products have a retry limit of {value} in version {when}?",
            compare="Which has the higher retry limit in version {when}, {a} or {b}?",
            section="Connections",
        ),
        Relation(
            "release.port",
            (
                "{subject} {when} listens on port {value}.",
                "Firewalls must let port {value} through for version {when} of {subject}.",
                "The admin page of {subject} answers at port {value} in {when}.",
                "In {when}, {subject} binds to {value} as its port.",
                "Port {value} is where release {when} of {subject} takes incoming connections.",
            ),
            "{of} {when} port",
            (
                "On which port does {of} listen in version {when}?",
                "Which port must firewalls let through for {of} in {when}?",
                "What port does {of} bind to in release {when}?",
            ),
            (
                "What number comes after the colon when I reach {of} in {when}?",
                "What do I have to open in the network so that {of} can be reached in {when}?",
                "Where does {of} accept visitors from the wire in {when}?",
            ),
            value="<2010..9890/20>",
            phrase="the port of {of} in {when}",
            section="Connections",
        ),
    ),
    PROSE,
    editions=True,
)
