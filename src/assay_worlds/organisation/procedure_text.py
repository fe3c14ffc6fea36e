"""The procedures of the organisation in words: prose for the steps around, clauses for what differs."""

from __future__ import annotations

from assay_worlds.organisation.phrase import Phrase, Topic

PROCEDURES = (
    Topic(
        "badge",
        "Replacing a lost badge",
        True,
        (
            "Report the missing card to the front desk and state when it last opened a door.",
            "The old badge is revoked in the gate controller before a new one is printed.",
            "Temporary stickers are valid until midnight and are returned to the tray.",
            "Bring a photographic document; a driving licence suffices.",
        ),
        (
            Phrase(
                "Complete form {value} and hand it to the concierge.",
                "form replacing lost badge concierge {scope}",
                "Which form is needed for a missing badge {scope}?",
                "I cannot find the card that opens the door; what paper must I fill in {scope}?",
                ("FM-112", "FM-118", "FM-131", "FM-147", "FM-152", "FM-163"),
            ),
            Phrase(
                "A replacement fee of {value} is withheld from the second loss onwards.",
                "replacement fee badge second loss {scope}",
                "What is the charge for losing a badge twice {scope}?",
                "My entry card went missing again, what will that cost me {scope}?",
                ("10 cur", "12 cur", "15 cur", "18 cur", "20 cur"),
            ),
        ),
    ),
    Topic(
        "onboarding",
        "Welcoming a new colleague",
        True,
        (
            "Order the laptop and the headset as soon as the contract is countersigned.",
            "Prepare the mailbox, the calendar groups and the distribution lists.",
            "Walk whoever is joining through the fire exits on the first morning.",
            "A buddy from another team joins for lunch during the first fortnight.",
        ),
        (
            Phrase(
                "Equipment is requested at least {value} before the first day.",
                "equipment requested before first day new colleague {scope}",
                "How early is a computer ordered for a new colleague {scope}?",
                "Someone is joining us soon; when do I order the laptop {scope}?",
                ("5 working days", "8 working days", "10 working days", "12 working days", "15 working days"),
            ),
            Phrase(
                "The probation interview is held in the {value}.",
                "probation interview held {scope}",
                "When is the trial period interview held {scope}?",
                "When do we decide whether a newcomer stays {scope}?",
                ("9th week", "10th week", "12th week", "14th week", "20th week"),
            ),
        ),
    ),
    Topic(
        "offboarding",
        "Processing a departure",
        True,
        (
            "Agree the last working day and the handover list with the line manager.",
            "Whoever leaves hands over documents, dashboards and recurring meetings.",
            "Equipment is inspected for dents and missing chargers.",
            "The exit interview is voluntary and its notes are anonymised.",
        ),
        (
            Phrase(
                "Credentials are withdrawn {value} after the last shift ends.",
                "credentials withdrawn last shift departure {scope}",
                "When is access removed after somebody leaves {scope}?",
                "How soon does a person who quits lose the logins {scope}?",
                ("30 minutes", "1 hour", "2 hours", "4 hours", "6 hours"),
            ),
            Phrase(
                "The mailbox forwards to the successor for {value} and is then archived.",
                "mailbox forwards successor archived {scope}",
                "For how long is mail of a former employee forwarded {scope}?",
                "She left the firm: until when do her messages still reach us {scope}?",
                ("14 days", "21 days", "30 days", "40 days", "60 days"),
            ),
        ),
    ),
    Topic(
        "calibration",
        "Calibrating a bench sensor",
        True,
        (
            "Let the lab probe reach room temperature and wipe the membrane with deionised water.",
            "Discard buffer solution that has turned cloudy or shows crystals at the rim.",
            "Note drift, slope and offset in the laboratory journal.",
            "Never immerse the connector; condensation in the ferrule ruins the reading.",
        ),
        (
            Phrase(
                "Repeat the two-point calibration every {value}.",
                "two-point calibration repeat interval sensor {scope}",
                "How often must a sensor be calibrated {scope}?",
                "After what time should I adjust the lab probe anew {scope}?",
                ("14 days", "20 days", "25 days", "30 days", "45 days"),
            ),
            Phrase(
                "Reject the electrode if the slope falls below {value}.",
                "reject electrode slope below {scope}",
                "Below which slope is an electrode discarded {scope}?",
                "When is a pH measuring tip too worn to be used {scope}?",
                ("88 percent", "90 percent", "92 percent", "94 percent", "95 percent"),
            ),
        ),
    ),
    Topic(
        "rollback",
        "Rolling back a deployment",
        False,
        (
            "Freeze the pipeline and announce the reversal in the operations channel.",
            "Check that the schema migration can be reversed; forward-only ones need the database owner.",
            "Drain the canary pool, then revert the remaining pools one at a time.",
            "Keep the code of the faulty release for the post-mortem.",
        ),
        (
            Phrase(
                "Reversal is obligatory when the error ratio exceeds {value} during the bake period.",
                "reversal obligatory error ratio bake period {scope}",
                "At which error rate is a rollback mandatory {scope}?",
                "How many requests may go wrong before I must undo my release {scope}?",
                ("0.5 percent", "0.8 percent", "1.2 percent", "1.5 percent", "2.5 percent"),
            ),
            Phrase(
                "The canary pool bakes for {value} before promotion.",
                "canary pool bakes promotion {scope}",
                "How long does the canary run before promotion {scope}?",
                "How long do we try new code on a few machines before all get it {scope}?",
                ("20 minutes", "40 minutes", "50 minutes", "90 minutes"),
            ),
        ),
    ),
    Topic(
        "backup",
        "Restoring from backup",
        False,
        (
            "Say which data was lost or deleted, and name the last known good moment.",
            "Mount the snapshot read-only and compare checksums against the manifest.",
            "Restored tables receive a suffix until their owner has verified them.",
            "Tapes stored off-site are fetched by courier in a sealed crate.",
        ),
        (
            Phrase(
                "Nightly snapshots are kept for {value} in the cold vault.",
                "nightly snapshots kept cold vault {scope}",
                "For how long are nightly backups kept {scope}?",
                "I deleted a table a while ago; how far back can it be recovered {scope}?",
                ("28 days", "35 days", "42 days", "56 days"),
            ),
            Phrase(
                "A restoration rehearsal takes place every {value}.",
                "restoration rehearsal takes place every {scope}",
                "How often is restoring practised {scope}?",
                "How frequently do we practise getting lost data back {scope}?",
                ("6 weeks", "8 weeks", "10 weeks", "16 weeks"),
            ),
        ),
    ),
    Topic(
        "complaint",
        "Handling a customer complaint",
        False,
        (
            "Answer an unhappy client in his own language before investigating.",
            "Classify the complaint by product, severity and root cause.",
            "Goodwill credits are booked against the product's own margin.",
            "Threats of litigation go to Legal without further correspondence.",
        ),
        (
            Phrase(
                "The complainant receives a substantive reply within {value}.",
                "complainant substantive reply within {scope}",
                "When must a complaint be answered {scope}?",
                "An angry client wrote to us; how long do we have for a real answer {scope}?",
                ("2 working days", "4 working days", "6 working days", "9 working days"),
            ),
            Phrase(
                "Goodwill credits above {value} need the signature of the controller.",
                "goodwill credits signature controller {scope}",
                "Above what amount does a credit need the controller {scope}?",
                "How much may I refund an unhappy client on my own authority {scope}?",
                ("200 EUR", "350 EUR", "450 EUR", "600 EUR"),
            ),
        ),
    ),
    Topic(
        "visitor",
        "Receiving visitors",
        True,
        (
            "Announce guests in the lobby register, with their firm and their host.",
            "Clients and other outsiders are accompanied at all times beyond the glass door.",
            "Photographs are permitted in the canteen and in the atrium only.",
            "Safety shoes in common sizes hang beside the laboratory airlock.",
        ),
        (
            Phrase(
                "Guests are entered in the register {value} before they arrive.",
                "guests entered register before arrive {scope}",
                "How long before arrival must guests be registered {scope}?",
                "A client is coming by; how early must I tell the front desk {scope}?",
                ("2 hours", "4 hours", "12 hours", "24 hours", "48 hours"),
            ),
            Phrase(
                "Groups of more than {value} require the consent of Facilities.",
                "groups require consent Facilities guests {scope}",
                "From which size does a group of visitors need approval {scope}?",
                "How many outsiders can I show around without asking anybody {scope}?",
                ("6 persons", "8 persons", "10 persons", "14 persons", "18 persons"),
            ),
        ),
    ),
    Topic(
        "shipment",
        "Dispatching hazardous goods",
        True,
        (
            "Batteries travel below a third of their charge and in individual boxes.",
            "Affix the diamond label to two opposite faces of the carton.",
            "The consignment note is printed in triplicate and signed in blue.",
            "Carriers without an accreditation are turned away at the ramp.",
        ),
        (
            Phrase(
                "A parcel must not weigh more than {value} gross.",
                "parcel weigh gross hazardous goods {scope}",
                "What is the maximum weight of a parcel with dangerous goods {scope}?",
                "How heavy can a box of batteries be when sent {scope}?",
                ("8 kg", "10 kg", "12 kg", "15 kg", "18 kg"),
            ),
            Phrase(
                "Consignment notes are archived under code {value}.",
                "consignment notes archived code {scope}",
                "Under which code are shipping papers filed {scope}?",
                "Where do the papers for dangerous freight end up {scope}?",
                ("HZ-204", "HZ-219", "HZ-233", "HZ-240", "HZ-257", "HZ-268"),
            ),
        ),
    ),
)
