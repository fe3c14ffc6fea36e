"""How policies of the offices are worded, one edition a year."""

from __future__ import annotations

from assay_worlds.workplace.kind import Kind, Relation
from assay_worlds.workplace.text.policy_prose import PROSE

POLICY = Kind(
    "policy",
    ("policy", "policies"),
    (
        "Policy on {subject}",
        "Rules for {subject}",
        "House rules: {subject}",
        "Policy sheet on {subject}",
        "Terms for {subject}",
    ),
    (
        Relation(
            "policy.ceiling",
            (
                "In {when}, no single claim for {subject} may exceed {value}.",
                "The ceiling that {when} sets on one claim for {subject} stands at {value}.",
                "Under the {when} edition of the rules for {subject}, payment of one claim stops at {value}.",
                "Whoever files a claim for {subject} in {when} is paid {value} at the very most.",
                "A claim for {subject} is capped at {value}, according to the {when} text.",
                "With effect for {when}, {value} is the upper bound of any one claim for {subject}.",
            ),
            "{of} claim ceiling {when}",
            (
                "What is the ceiling on a claim for {of} in {when}?",
                "At what amount is a single claim for {of} capped in {when}?",
                "Which upper bound holds in {when} for one claim for {of}?",
            ),
            (
                "How much money can I get back at most for {of} in {when}?",
                "What is the biggest bill that the company would take over for {of} in {when}?",
                "Beyond which sum would I have to pay myself for {of} in {when}?",
            ),
            value="<400..4800/50> EUR",
            phrase="the claim ceiling for {of} in {when}",
            compare="Which had the higher ceiling on a claim in {when}, {a} or {b}?",
            section="Amounts",
        ),
        Relation(
            "policy.notice",
            (
                "Requests that concern {subject} reach the desk {value} ahead of time in {when}.",
                "For {subject}, the {when} edition asks for advance notice of {value}.",
                "The {when} rules on {subject} are strict about announcing plans {value} beforehand.",
                (
                    "An announcement made less than {value} in advance is turned down in {when} where it "
                    "concerns {subject}."
                ),
                (
                    "Notice for {subject} in {when} amounts to {value}, counted back from the first day "
                    "concerned."
                ),
                "For {subject}, staff give colleagues {value} of warning under the {when} text.",
            ),
            "advance notice {of} {when}",
            (
                "How much advance notice is needed for {of} in {when}?",
                "How many days ahead are plans announced for {of} in {when}?",
                "What is the notice for {of} under the {when} rules?",
            ),
            (
                "How early do I have to speak up about {of} in {when}?",
                "I want to make use of {of} in {when}: by when must my wish be known?",
                "How long before the event is it too late to ask for {of} in {when}?",
            ),
            value="<3..60/3> days",
            phrase="the advance notice for {of} in {when}",
            compare="Which required the longer advance notice in {when}, {a} or {b}?",
            section="Deadlines",
        ),
        Relation(
            "policy.limit",
            (
                "Spending on {subject} up to {value} needs nobody's signature in {when}.",
                "The {when} threshold below which costs of {subject} pass without sign-off is {value}.",
                "From {value} upwards, costs of {subject} are signed off before the order in {when}.",
                "The approval limit for {subject} was put at {value} in the {when} edition.",
                (
                    "Line managers wave through expenses on {subject} as long as they stay under {value}, "
                    "the {when} text says."
                ),
            ),
            "approval limit {of} {when}",
            (
                "What is the approval limit for {of} in {when}?",
                "Up to which sum do costs of {of} pass without a signature in {when}?",
                "From what amount do costs of {of} need sign-off in {when}?",
            ),
            (
                "How much may I spend on {of} in {when} without asking anyone?",
                "When does a purchase for {of} become so dear in {when} that I have to get permission?",
                "How large a purchase for {of} can I make freely in {when}?",
            ),
            value="<60..900/20> EUR",
            phrase="the approval limit for {of} in {when}",
            compare="Which had the higher approval limit in {when}, {a} or {b}?",
            section="Approval",
        ),
        Relation(
            "policy.allowance",
            (
                "A flat allowance of {value} is granted for {subject} in {when}.",
                "Those entitled to {subject} draw {value} as a lump sum in {when}.",
                "In the {when} edition, the daily rate that payroll credits for {subject} reads {value}.",
                "For {subject}, payroll adds {value} without receipts, as laid down for {when}.",
                "The per diem attached to {subject} comes to {value} in {when}.",
            ),
            "daily allowance {of} {when}",
            (
                "What flat allowance is granted for {of} in {when}?",
                "Which daily rate is credited for {of} in {when}?",
                "How high is the per diem for {of} in {when}?",
            ),
            (
                "What do I receive every day on top of my wages for {of} in {when}?",
                "How much cash comes without showing any bills for {of} in {when}?",
                "What is paid out day by day for {of} in {when}?",
            ),
            value="<12..96/2> EUR a day",
            phrase="the daily allowance for {of} in {when}",
            compare="Which carried the higher daily allowance in {when}, {a} or {b}?",
            section="Amounts",
        ),
        Relation(
            "policy.retention",
            (
                "Papers filed under {subject} are retained for {value} according to the {when} edition.",
                "The archive holds records on {subject} for {value}, a span that holds in {when}.",
                "In {when}, shredding of files on {subject} is allowed once {value} have gone by.",
                "Retention of documents about {subject} runs to {value} in the {when} text.",
                (
                    "Until {value} have passed, nothing recorded on {subject} may be deleted, the {when} "
                    "rules state."
                ),
            ),
            "record retention {of} {when}",
            (
                "How long are records on {of} retained under the {when} rules?",
                "What retention applies in {when} to files about {of}?",
                "For how many months does the archive hold papers on {of} in {when}?",
            ),
            (
                "When can I throw away old forms about {of} in {when}?",
                "How long do we have to keep paperwork from {of} in {when}?",
                "At what age may receipts for {of} go into the bin in {when}?",
            ),
            value="<12..144/12> months",
            phrase="the record retention for {of} in {when}",
            listing="Under which policies of {when} are records retained for {value}?",
            compare="Which had the longer record retention in {when}, {a} or {b}?",
            section="Records",
        ),
        Relation(
            "policy.waiting",
            (
                "Newcomers become eligible for {subject} after a waiting period of {value} in {when}.",
                "Entitlement to {subject} starts {value} after the contract begins, by the {when} edition.",
                "The {when} rules let {value} of service pass before somebody may call on {subject}.",
                "Before {value} of employment are complete, nobody can make use of {subject} in {when}.",
                "A qualifying time of {value} stands before any entitlement to {subject} in the {when} text.",
            ),
            "waiting period {of} {when}",
            (
                "What waiting period applies to {of} in {when}?",
                "How many days of service come before entitlement to {of} in {when}?",
                "After how long does a newcomer become eligible for {of} in {when}?",
            ),
            (
                "I have just started here in {when}: when can I first make use of {of}?",
                "How long must somebody have been with us to profit from {of} in {when}?",
                "As a fresh hire in {when}, how long am I left out of {of}?",
            ),
            value="<10..180/5> days",
            phrase="the waiting period for {of} in {when}",
            compare="Which had the longer waiting period in {when}, {a} or {b}?",
            section="Deadlines",
        ),
        Relation(
            "policy.approver",
            (
                "Requests about {subject} are decided by {value} in {when}.",
                "In {when}, it is {value} that approves anything to do with {subject}.",
                "The {when} edition names {value} as the approving body for {subject}.",
                "Sign-off on {subject} lies with {value} for the whole of {when}.",
                "Under the {when} rules, an application for {subject} goes to {value} for a decision.",
            ),
            "approver {of} {when}",
            (
                "Which team approves {of} in {when}?",
                "Who decides requests about {of} in {when}?",
                "With whom does sign-off on {of} lie in {when}?",
            ),
            (
                "Whose yes do I need for {of} in {when}?",
                "Which group can turn me down over {of} in {when}?",
                "Where do I send my wish concerning {of} in {when} to get it allowed?",
            ),
            gives="team",
            phrase="the team that approves {of} in {when}",
            listing="Which policies have {value} as the approving body in {when}?",
            section="Approval",
        ),
    ),
    PROSE,
    names=(
        "business travel",
        "parental leave",
        "remote work",
        "company cars",
        "mobile phones",
        "training and study",
        "relocation",
        "overtime",
        "home internet",
        "client entertainment",
        "commuting by bicycle",
        "protective clothing",
        "conference attendance",
        "language lessons",
        "sabbaticals",
        "on-site meals",
        "gifts and invitations",
        "volunteering",
        "medical check-ups",
        "private use of laboratories",
        "loan of instruments to staff",
        "software subscriptions",
        "taxi rides",
        "hotel stays",
        "rail travel",
        "flights between continents",
        "patent rewards",
        "referral rewards",
        "office furniture",
        "spectacles for screen work",
        "childcare support",
        "carer leave",
        "military service leave",
        "bereavement leave",
        "jury duty",
        "night shifts",
        "work in clean rooms",
        "travel with dangerous goods",
        "visits by school groups",
        "professional memberships",
    ),
    editions=True,
)
