"""The policies that hold for the whole company, in words."""

from __future__ import annotations

from assay_worlds.organisation.phrase import Phrase, Topic

COMPANY_POLICIES = (
    Topic(
        "access",
        "Access control standard",
        False,
        (
            "Shared logins are forbidden; every user is one person.",
            "Privileged sessions are recorded and sampled by Security every month.",
            "Hardware tokens are enrolled in person against a photographic document.",
        ),
        (
            Phrase(
                "Passphrases consist of at least {value}.",
                "passphrases at least minimum {scope}",
                "How long do passwords have to be at least {scope}?",
                "How long must my login secret be {scope}?",
                ("14 characters", "15 characters", "16 characters", "18 characters"),
            ),
            Phrase(
                "Dormant accounts are disabled after {value} without authentication.",
                "dormant accounts disabled without authentication {scope}",
                "When are inactive accounts disabled {scope}?",
                "Nobody signed in for ages: when does the user get locked {scope}?",
                ("30 days", "45 days", "60 days", "90 days"),
            ),
            Phrase(
                "An unattended workstation locks itself after {value}.",
                "unattended workstation locks {scope}",
                "After what time does an unattended computer lock {scope}?",
                "How soon does my idle PC screen go dark {scope}?",
                ("3 minutes", "5 minutes", "8 minutes", "10 minutes"),
            ),
        ),
    ),
    Topic(
        "retention",
        "Records retention schedule",
        False,
        (
            "Files and videos under a litigation hold are stored until Legal lifts it in writing.",
            "Throwing papers out is witnessed by two employees and minuted.",
            "Pseudonymised telemetry falls outside this schedule.",
        ),
        (
            Phrase(
                "Applications of unsuccessful candidates are erased {value} after the vacancy is filled.",
                "applications unsuccessful candidates erased {scope}",
                "When are the applications of rejected people deleted {scope}?",
                "How long do we store the CV of someone not hired {scope}?",
                ("3 months", "4 months", "6 months", "8 months"),
            ),
            Phrase(
                "Invoices and vouchers are preserved for {value}.",
                "invoices vouchers preserved {scope}",
                "For how long are invoices stored {scope}?",
                "How old must bookkeeping papers be before we throw them out {scope}?",
                ("7 years", "8 years", "9 years", "10 years"),
            ),
            Phrase(
                "Recordings of surveillance cameras are overwritten after {value}.",
                "recordings surveillance cameras overwritten {scope}",
                "How long is footage of security cameras kept {scope}?",
                "How far back can we watch the security video {scope}?",
                ("72 hours", "96 hours", "120 hours", "168 hours"),
            ),
        ),
    ),
    Topic(
        "purchasing",
        "Procurement policy",
        False,
        (
            "Splitting a purchase between vendors to stay under a threshold is treated as misconduct.",
            "Framework suppliers are re-tendered every fourth year.",
            "Samples and loans are entered in the register of Procurement.",
        ),
        (
            Phrase(
                "Three competing quotations are mandatory for orders above {value}.",
                "three competing quotations mandatory orders above {scope}",
                "Above what amount are three offers needed for an order {scope}?",
                "When do I have to compare several vendors' prices before buying {scope}?",
                ("4000 EUR", "5000 EUR", "7500 EUR", "9000 EUR"),
            ),
            Phrase(
                "Suppliers are remunerated {value} after receipt of a correct invoice.",
                "suppliers remunerated receipt correct invoice {scope}",
                "When are suppliers paid after an invoice {scope}?",
                "How quickly do vendors get their money from us {scope}?",
                ("21 days", "28 days", "35 days", "42 days"),
            ),
        ),
    ),
    Topic(
        "integrity",
        "Gifts and integrity code",
        False,
        (
            "Raffle prizes won at trade fairs are declared like any other gift or bonus.",
            "Relatives do not report to one another, directly or through a third person.",
            "Political donations are never made in the company's name.",
        ),
        (
            Phrase(
                "Presents from business partners may be accepted up to a worth of {value}.",
                "presents business partners accepted worth {scope}",
                "Up to what value may gifts from partners be accepted {scope}?",
                "A supplier sent me a bottle of wine: can I keep that gift {scope}?",
                ("30 EUR", "35 EUR", "40 EUR", "50 EUR"),
            ),
            Phrase(
                "Confidential reports to the ombudsperson are acknowledged within {value}.",
                "confidential reports ombudsperson acknowledged {scope}",
                "How soon are confidential reports answered {scope}?",
                "I blew the whistle on my boss; when will I hear back {scope}?",
                ("3 working days", "5 working days", "7 working days"),
            ),
            Phrase(
                "Recommending a successful candidate is rewarded with {value} after probation.",
                "recommending successful candidate rewarded probation {scope}",
                "What is the reward for referring a candidate {scope}?",
                "My friend got hired because of me; is there a bonus {scope}?",
                ("900 EUR", "1200 EUR", "1500 EUR", "1800 EUR"),
            ),
        ),
    ),
    Topic(
        "standby",
        "Stand-by and incident policy",
        False,
        (
            "Being on call changes hands on Wednesdays at noon, never on the eve of a holiday.",
            "In an outage the commander may be relieved but is never doubled.",
            "Post-mortems name causes and conditions, not culprits.",
        ),
        (
            Phrase(
                "The engineer on stand-by acknowledges a severity-one page within {value}.",
                "stand-by engineer acknowledges severity-one page {scope}",
                "How fast must the on-call engineer acknowledge a severity-one alert {scope}?",
                "How soon must somebody on call react to the worst outage {scope}?",
                ("5 minutes", "10 minutes", "12 minutes", "15 minutes"),
            ),
            Phrase(
                "A week of stand-by is compensated with a flat supplement of {value}.",
                "week of stand-by flat supplement {scope}",
                "How much extra is paid for a week on stand-by {scope}?",
                "What is the extra pay for being on call seven days {scope}?",
                ("280 EUR", "320 EUR", "360 EUR", "410 EUR"),
            ),
            Phrase(
                "The post-mortem is published no later than {value} after the service is restored.",
                "post-mortem published service restored {scope}",
                "When is the report on an incident published {scope}?",
                "How long may we take to write up an outage {scope}?",
                ("4 working days", "6 working days", "8 working days", "10 working days"),
            ),
        ),
    ),
)
