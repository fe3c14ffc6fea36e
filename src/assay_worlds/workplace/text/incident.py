"""How reports of incidents are worded."""

from __future__ import annotations

from assay_worlds.workplace.kind import Kind, Relation
from assay_worlds.workplace.text.incident_prose import PROSE

INCIDENT = Kind(
    "incident",
    ("incident", "incidents"),
    (
        "{subject}: review",
        "What happened in {subject}",
        "Report on {subject}",
        "{subject}: lessons and timeline",
    ),
    (
        Relation(
            "incident.service",
            (
                "{subject} took down {value}.",
                "The service that failed during {subject} was {value}.",
                "{value} was out of order while {subject} lasted.",
                "In the course of {subject}, users lost access to {value}.",
                "It was {value} that bore the brunt of {subject}.",
            ),
            "service affected {of}",
            (
                "Which service was affected by {of}?",
                "Which service failed during {of}?",
                "To what did users lose access in {of}?",
            ),
            (
                "What stopped working in {of}?",
                "Which of our systems was hit in {of}?",
                "What did {of} break?",
            ),
            gives="service",
            phrase="the service that failed in {of}",
            listing="Which incidents took down {value}?",
            section="Scope",
        ),
        Relation(
            "incident.lead",
            (
                "The response to {subject} was led by {value}.",
                "{value} acted as incident lead throughout {subject}.",
                "During {subject}, decisions were in the hands of {value}.",
                "As commander for {subject}, {value} ran the call.",
                "Command of {subject} passed to {value} right after the first page.",
            ),
            "incident lead {of}",
            (
                "Who led the response to {of}?",
                "Who was the incident lead in {of}?",
                "Who was in command of {of}?",
            ),
            (
                "Who called the shots in {of}?",
                "Who was at the wheel when {of} was dealt with?",
                "Which person told the others what to do in {of}?",
            ),
            gives="person",
            phrase="the incident lead of {of}",
            listing="Which incidents were led by {value}?",
            section="Response",
        ),
        Relation(
            "incident.duration",
            (
                "{subject} lasted {value} from first alert to all-clear.",
                "It took {value} until {subject} was over.",
                "The clock on {subject} was stopped after {value}.",
                "The outage in {subject} ran for {value}.",
                "Normal operation returned {value} into {subject}.",
            ),
            "duration {of}",
            (
                "How long did {of} last?",
                "What was the duration of {of}?",
                "After how many minutes was {of} over?",
            ),
            (
                "How much time went by in {of} before things worked again?",
                "For what stretch were people stuck in {of}?",
                "How slow were we to get back on our feet in {of}?",
            ),
            value="<12..480/4> minutes",
            phrase="the duration of {of}",
            compare="Which lasted longer, {a} or {b}?",
            section="Scope",
        ),
        Relation(
            "incident.cause",
            (
                "The root cause of {subject} turned out to be {value}.",
                "Investigators traced {subject} back to {value}.",
                "Behind {subject} stood {value}.",
                "What set {subject} off was {value}.",
                "{subject} is put down to {value} in the closing statement.",
            ),
            "root cause {of}",
            (
                "What was the root cause of {of}?",
                "What was {of} traced back to?",
                "What set {of} off?",
            ),
            (
                "Why did {of} happen?",
                "What was to blame for {of}?",
                "What had gone wrong underneath in {of}?",
            ),
            value=(
                "[an expired certificate|a full disk|a mistyped routing rule|a failed power supply|a stuck "
                "database lock|a wrong firmware image|an overheated switch|a deleted queue|a broken cable|a "
                "leap in clock time|a rejected password rotation|a runaway report|a faulty load balancer|a "
                "corrupted index|a cancelled contract]"
            ),
            phrase="the root cause of {of}",
            listing="Which incidents are put down to {value}?",
            section="Causes and follow-up",
        ),
        Relation(
            "incident.ticket",
            (
                "The ticket opened for {subject} bears the number {value}.",
                "All work on {subject} was booked under ticket {value}.",
                "{subject} is tracked as {value}.",
                "Notes and graphs from {subject} hang on {value} in the tracker.",
                "Anyone who wants the raw notes of {subject} looks up ticket {value}.",
            ),
            "ticket number {of}",
            (
                "Which ticket was opened for {of}?",
                "Under what ticket number is {of} tracked?",
                "Which ticket holds the notes of {of}?",
            ),
            (
                "What do I type into the tracker to find {of}?",
                "Where was the work around {of} written up?",
                "What reference should I quote about {of}?",
            ),
            value="[OPS|SRE|NOC|PRB|TRB]-<10010..98990/7>",
            phrase="the ticket of {of}",
            section="Response",
        ),
        Relation(
            "incident.customers_hit",
            (
                "{value} felt the effects of {subject}.",
                "{subject} reached {value} before it was contained.",
                "Support counted {value} that were hit by {subject}.",
                "The circle of those disturbed by {subject} is put at {value}.",
                "Apologies for {subject} went out to {value}.",
            ),
            "customers hit {of}",
            (
                "How many customers were hit by {of}?",
                "How many customers felt the effects of {of}?",
                "To how many customers did apologies for {of} go out?",
            ),
            (
                "How widely did outsiders notice {of}?",
                "How many clients had reason to grumble about {of}?",
                "How big was the circle of those who suffered in {of}?",
            ),
            value="<3..240/3> customers",
            phrase="the number of customers hit by {of}",
            compare="Which hit more customers, {a} or {b}?",
            section="Scope",
        ),
    ),
    PROSE,
    names=("Incident [A|B|D|F|H|K|M|P|R|T]<1000..9899>",),
)
