"""The policies of which every office keeps its own edition, in words; `cur` is the office's currency."""

from __future__ import annotations

from assay_worlds.organisation.phrase import Phrase, Topic

OFFICE_POLICIES = (
    Topic(
        "travel",
        "Business travel policy",
        True,
        (
            "Trips under four hours are made by rail, not by car, wherever a direct connection exists.",
            "Hotels and flights are reserved through the agency portal; private bookings are not reimbursed.",
            "Travellers carry the emergency card of the assistance provider on every trip.",
            "Fares above economy class need a written justification from the cost-centre holder.",
        ),
        (
            Phrase(
                "The lodging ceiling is {value} a night, breakfast included.",
                "lodging ceiling per night {scope}",
                "What is the limit for accommodation on a business trip {scope}?",
                "How expensive may my hotel room be {scope}?",
                ("95 cur", "110 cur", "125 cur", "140 cur", "155 cur", "170 cur"),
            ),
            Phrase(
                "A subsistence allowance of {value} is granted for every full day away from the home site.",
                "subsistence allowance full day away {scope}",
                "How high is the daily meal allowance when travelling {scope}?",
                "What do I get for food each day on a trip {scope}?",
                ("32 cur", "38 cur", "44 cur", "47 cur", "52 cur", "58 cur"),
            ),
            Phrase(
                "Mileage in a private vehicle is compensated up to {value} per journey.",
                "private vehicle mileage compensated per journey {scope}",
                "Up to what distance are kilometres in my own vehicle paid {scope}?",
                "How far can I drive my own car and still be paid for the petrol {scope}?",
                ("180 km", "220 km", "260 km", "310 km", "350 km", "420 km"),
            ),
        ),
    ),
    Topic(
        "leave",
        "Annual leave policy",
        True,
        (
            "Holidays of more than two consecutive weeks are agreed with the line manager a quarter ahead.",
            "Bank holidays that fall on a Saturday are not transferred.",
            "Time off is entered in the shared calendar, which is the only record that counts.",
            "During the winter closure every site keeps a skeleton roster.",
        ),
        (
            Phrase(
                "Employees accrue an annual leave entitlement of {value} in each calendar year.",
                "annual leave entitlement calendar year {scope}",
                "How many days of annual holiday does an employee get {scope}?",
                "How much time off do staff get {scope}?",
                ("24 days", "25 days", "26 days", "27 days", "28 days", "30 days"),
            ),
            Phrase(
                "Unused entitlement may be carried over into the following year up to {value}.",
                "carried over unused entitlement following year {scope}",
                "How much unused holiday can be taken into the next year {scope}?",
                "Holidays I did not take by December: what may I keep {scope}?",
                ("3 days", "4 days", "5 days", "6 days", "8 days", "10 days"),
            ),
            Phrase(
                "Compassionate leave of {value} is granted on the death of a close relative.",
                "compassionate leave close relative {scope}",
                "How long is bereavement leave for a relative {scope}?",
                "My mother passed away, how long may I stay at home {scope}?",
                ("2 days", "3 days", "4 days", "5 days", "6 days", "7 days"),
            ),
        ),
    ),
    Topic(
        "remote",
        "Distributed working policy",
        True,
        (
            "Whoever works from home is available from ten to three.",
            "Confidential prototypes do not leave the office, not even in a locked case.",
            "The desk reservation tool opens at six every Monday for the week that follows.",
            "Video calls from moving trains are discouraged for reasons of confidentiality.",
        ),
        (
            Phrase(
                "Staff may discharge their duties from a domestic workplace on up to {value} a week.",
                "domestic workplace duties per week {scope}",
                "How many days a week may staff work at home {scope}?",
                "Working from home: how often {scope}?",
                ("1 day", "2 days", "3 days", "4 days"),
            ),
            Phrase(
                "A furnishing grant of {value} is paid once for an ergonomic chair and an adjustable table.",
                "furnishing grant ergonomic chair table {scope}",
                "How large is the grant for a chair and a desk {scope}?",
                "Is there money to equip my home office {scope}?",
                ("250 cur", "300 cur", "350 cur", "400 cur", "475 cur", "550 cur"),
            ),
            Phrase(
                "Work performed outside the country of contract is limited to {value} in any twelve months.",
                "work outside country of contract limited twelve months {scope}",
                "How long may somebody work in another country {scope}?",
                "Can I do my job from abroad, and for how long {scope}?",
                ("10 working days", "15 working days", "20 working days", "25 working days"),
            ),
        ),
    ),
    Topic(
        "expense",
        "Expense reimbursement policy",
        True,
        (
            "Bills are photographed, never stapled, and kept until the money has arrived.",
            "Alcohol at dinner is not reimbursed, whatever the occasion.",
            "Corporate cards are reconciled against the ledger by Finance Operations.",
            "Gratuities are accepted where local custom expects them and stay below a tenth of the bill.",
        ),
        (
            Phrase(
                "Claims are to be submitted within {value} of the expenditure.",
                "claims submitted within expenditure {scope}",
                "What is the deadline for submitting expenses {scope}?",
                "Is it too late to hand in an old bill {scope}?",
                ("20 days", "30 days", "45 days", "60 days", "75 days", "90 days"),
            ),
            Phrase(
                "Entertaining clients is reimbursed up to {value} per head.",
                "entertaining clients reimbursed per head {scope}",
                "How much per person is reimbursed for a meal with clients {scope}?",
                "Dinner with a customer: what may it cost for each person {scope}?",
                ("40 cur", "45 cur", "50 cur", "60 cur", "65 cur", "75 cur"),
            ),
            Phrase(
                "A receipt may be dispensed with for outlays below {value}.",
                "receipt dispensed outlays below {scope}",
                "Below which amount is no receipt needed {scope}?",
                "Small purchase, but I lost the bill: refunded {scope}?",
                ("8 cur", "10 cur", "12 cur", "15 cur", "18 cur", "20 cur"),
            ),
        ),
    ),
    Topic(
        "parental",
        "Parental leave policy",
        True,
        (
            "Adopting a child is treated in the same way as birth.",
            "Statutory benefits are deducted from what the company pays.",
            "Mothers and fathers name a handover partner no later than the seventh month.",
        ),
        (
            Phrase(
                "The secondary carer receives {value} of fully paid parental leave.",
                "secondary carer fully paid parental leave {scope}",
                "How many weeks of paid leave does the second parent receive {scope}?",
                "How long can a new father stay with the baby on full salary {scope}?",
                ("4 weeks", "6 weeks", "8 weeks", "10 weeks", "12 weeks"),
            ),
            Phrase(
                "The phased return allows reduced hours for {value} without loss of grade.",
                "phased return reduced hours loss of grade {scope}",
                "How long may a parent work reduced hours after coming back {scope}?",
                "Part-time after having a baby: how long {scope}?",
                ("3 months", "4 months", "6 months", "9 months"),
            ),
        ),
    ),
    Topic(
        "learning",
        "Professional development policy",
        True,
        (
            "Courses, books and certificates at the company's cost are recorded in the skills register.",
            "Conference speakers receive editorial help from Documentation.",
            "Mentoring pairs are matched in February and September.",
            "Language tuition is offered in groups of at most eight.",
        ),
        (
            Phrase(
                "Each employee disposes of a development allowance of {value} a year.",
                "development allowance employee a year {scope}",
                "How big is the yearly training allowance {scope}?",
                "What budget do I have for courses and books {scope}?",
                ("800 cur", "950 cur", "1100 cur", "1250 cur", "1400 cur", "1600 cur"),
            ),
            Phrase(
                "Tuition fees are repayable if the beneficiary resigns within {value} of the examination.",
                "tuition fees repayable resigns examination {scope}",
                "Until when must fees be paid back by somebody who leaves {scope}?",
                "If I quit after my degree was financed, do I owe the money {scope}?",
                ("9 months", "12 months", "15 months", "18 months", "24 months"),
            ),
        ),
    ),
    Topic(
        "sickness",
        "Sickness absence policy",
        True,
        (
            "Whoever is ill calls before nine; details are confided to the company's doctor alone.",
            "A colleague who falls ill on holiday regains the days on presenting a doctor's note.",
            "Prolonged incapacity is followed by a graduated reintegration plan.",
        ),
        (
            Phrase(
                "A medical certificate is required from the {value} of incapacity.",
                "medical certificate required incapacity {scope}",
                "From which day is a doctor's certificate required {scope}?",
                "I have the flu; when do I need a doctor's note {scope}?",
                ("2nd day", "3rd day", "4th day", "5th day", "6th day"),
            ),
            Phrase(
                "Full remuneration continues for {value} of certified incapacity.",
                "full remuneration continues certified incapacity {scope}",
                "For how many weeks does full pay continue during illness {scope}?",
                "How long do I keep my salary when ill {scope}?",
                ("6 weeks", "8 weeks", "10 weeks", "13 weeks", "16 weeks"),
            ),
        ),
    ),
    Topic(
        "commuting",
        "Commuting and parking policy",
        True,
        (
            "Bays with a charger are released after four hours.",
            "Bus and train timetables hang beside the lift.",
            "Cars shared by three or more take precedence in the allocation of bays.",
        ),
        (
            Phrase(
                "Season tickets for public transport are subsidised with {value} a month.",
                "season tickets public transport subsidised {scope}",
                "By how much is a public transport pass subsidised {scope}?",
                "Does my employer chip in for bus and train {scope}?",
                ("25 cur", "30 cur", "35 cur", "40 cur", "55 cur", "60 cur"),
            ),
            Phrase(
                "The monthly levy for a reserved parking bay amounts to {value}.",
                "monthly levy reserved parking bay {scope}",
                "What is the monthly charge for a parking space {scope}?",
                "What do I pay to leave my car at the building {scope}?",
                ("22 cur", "28 cur", "33 cur", "41 cur", "46 cur", "62 cur"),
            ),
        ),
    ),
)
