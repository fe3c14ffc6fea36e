"""How procedures of the offices are worded: their owners, forms, deadlines, fees and steps."""

from __future__ import annotations

from assay_worlds.workplace.kind import Kind, Relation
from assay_worlds.workplace.text.procedure_prose import PROSE

PROCEDURE = Kind(
    "procedure",
    ("procedure", "procedures"),
    (
        "Procedure: {subject}",
        "How-to: {subject}",
        "Working instruction for {subject}",
        "Guide to {subject}",
        "Step by step: {subject}",
    ),
    (
        Relation(
            "procedure.owner",
            (
                "The procedure for {subject} belongs to {value}.",
                "It falls to {value} to maintain the instructions for {subject}.",
                "Changes to how {subject} works are made by {value} and nobody else.",
                "Responsibility for {subject} has been assigned to {value}.",
                "{value} keeps the steps of {subject} up to date and answers for them.",
                "Ownership of {subject} sits with {value}.",
            ),
            "procedure owner {of}",
            (
                "Which team owns the procedure for {of}?",
                "To whom is responsibility for {of} assigned?",
                "Who maintains the instructions for {of}?",
            ),
            (
                "Whom do I turn to when something about {of} makes no sense?",
                "Which group looks after {of}?",
                "Who could alter the way we go about {of}?",
            ),
            gives="team",
            phrase="the team that owns the procedure for {of}",
            listing="Which procedures belong to {value}?",
            section="Responsibility",
        ),
        Relation(
            "procedure.form",
            (
                "Form {value} is filled in for {subject}.",
                "Nobody gets far with {subject} before sheet {value} has been completed.",
                "The template that accompanies {subject} carries the number {value}.",
                "To begin {subject}, download {value} from the forms library.",
                "{value} is the only form accepted for {subject}.",
            ),
            "form number {of}",
            (
                "Which form is filled in for {of}?",
                "What is the number of the template that goes with {of}?",
                "Which sheet has to be completed for {of}?",
            ),
            (
                "What paper do I need for {of}?",
                "What do I print out and write on for {of}?",
                "What do I hand in when it comes to {of}?",
            ),
            value="[FX|RQ|NB|TL|GV|HK]-<101..989>",
            phrase="the form for {of}",
            section="Paperwork",
        ),
        Relation(
            "procedure.deadline",
            (
                "Everything connected with {subject} is wrapped up within {value}.",
                "The deadline for {subject} is {value} after the request.",
                "A case of {subject} that is still open after {value} counts as overdue.",
                "From the first message, {value} remain to finish {subject}.",
                "The clock for {subject} stops at {value}, by which time the file is closed.",
            ),
            "deadline {of}",
            (
                "What is the deadline for {of}?",
                "Within how many working days is {of} to be wrapped up?",
                "After how long does a case of {of} count as overdue?",
            ),
            (
                "How quickly must I be through with {of}?",
                "How much time do I have for {of}?",
                "When would somebody start to chase me about {of}?",
            ),
            value="<2..30/2> working days",
            phrase="the deadline for {of}",
            listing="Which procedures have to be wrapped up within {value}?",
            compare="Which leaves more time, {a} or {b}?",
            section="Time and money",
        ),
        Relation(
            "procedure.fee",
            (
                "The cost centre is debited with {value} for {subject}.",
                "A handling fee of {value} is charged for {subject}.",
                "Each time, {subject} sets the requesting department back {value}.",
                "The internal price list shows {value} beside {subject}.",
                "{value} is billed internally whenever {subject} takes place.",
            ),
            "handling fee {of}",
            (
                "What fee is charged for {of}?",
                "Which amount is billed internally for {of}?",
                "What does the internal price list show for {of}?",
            ),
            (
                "How expensive is {of} for my department?",
                "What will I have to pay for {of}?",
                "Is {of} free, or what does it take from our purse?",
            ),
            value="<15..240/5> EUR",
            phrase="the handling fee for {of}",
            compare="Which costs more, {a} or {b}?",
            section="Time and money",
        ),
    ),
    PROSE,
    names=(
        "returning a loan instrument",
        "replacing a lost badge",
        "booking a meeting room",
        "ordering laboratory glass",
        "reporting a near miss",
        "shipping a sample abroad",
        "requesting a parking space",
        "registering a visitor",
        "disposing of old batteries",
        "cleaning a fume hood",
        "borrowing a company car",
        "claiming travel expenses",
        "ordering business cards",
        "setting up a new workplace",
        "handing over a project",
        "archiving a paper file",
        "renaming a shared mailbox",
        "applying for a building key",
        "moving desks",
        "labelling hazardous waste",
        "scheduling a fire drill",
        "requesting a translation",
        "releasing a firmware image",
        "quarantining a faulty batch",
        "calling a courier",
        "opening a supplier account",
        "closing a customer complaint",
        "reserving the climate chamber",
        "printing calibration certificates",
        "retiring a test bench",
        "reporting a broken lift",
        "ordering protective goggles",
        "requesting a night shift permit",
        "hosting a school visit",
        "returning unused leave",
        "changing a bank account",
        "applying for a training place",
        "publishing a job advert",
        "escorting a contractor",
        "weighing in a delivery",
        "refilling liquid nitrogen",
        "checking a torque wrench",
        "exporting measurement data",
        "restoring a deleted folder",
        "requesting remote access",
        "reporting a phishing mail",
        "ordering spare probes",
        "sealing a prototype crate",
        "declaring a gift",
        "filing an invention",
        "recalling a shipped device",
        "hiring a temporary worker",
        "photographing a product",
        "renting a trade fair stand",
        "storing solvents",
        "testing emergency lights",
        "swapping a shift",
        "collecting confidential paper",
        "correcting a time sheet",
        "requesting a budget transfer",
    ),
)

# Several make a paragraph, which answers a question about the procedure as a whole.
STEPS = (
    (
        "Step {number} of {subject}: [open|unlock|bring up] the [request portal|staff portal|ticket page] "
        "and [describe|state|enter] the [reason|occasion|need] in [one|a plain|a short] sentence."
    ),
    (
        "Step {number} of {subject}: [attach|add|enclose] a [photograph|scan|sketch|printout] that shows the "
        "[label|serial plate|damage|surroundings] [clearly|from two sides|in daylight]."
    ),
    (
        "Step {number} of {subject}: [wait for|look out for|await] the [confirmation|green tick|automatic "
        "reply] before [touching|moving|changing] anything [on site|in the system|at the bench]."
    ),
    (
        "Step {number} of {subject}: [inform|tell|warn] the [neighbouring bench|people next door|shift "
        "lead|reception] so that nobody is [surprised|disturbed|in the way]."
    ),
    (
        "Step {number} of {subject}: [put on|wear|fetch] [gloves|goggles|a visitor vest|safety shoes|a dust "
        "mask], even if the [task|job|errand] [looks|seems] [harmless|quick|clean]."
    ),
    (
        "Step {number} of {subject}: [compare|check|match] the [number|tag|barcode] on the "
        "[item|crate|device|folder] with the [list|request|delivery note]."
    ),
    (
        "Step {number} of {subject}: [switch off|disconnect|isolate] the [supply|mains|feed|pump] and "
        "[hang|place|clip] the [red|lock-out|warning] tag where [everyone|the next shift|a passer-by] can "
        "see it."
    ),
    (
        "Step {number} of {subject}: [write|note|enter] the [time|reading|name of the person present|room "
        "temperature] in the [logbook|record sheet|online journal]."
    ),
    (
        "Step {number} of {subject}: [ask|get] a [second person|colleague|witness] to [repeat|verify|watch] "
        "the [count|reading|check] and to [initial|sign|confirm] it."
    ),
    (
        "Step {number} of {subject}: [pack|wrap|cushion] the [part|goods|sample|instrument] in "
        "[foam|antistatic film|the original box|bubble wrap] and [seal|tape|close] every [edge|seam|flap]."
    ),
    (
        "Step {number} of {subject}: [print|produce|write] a [label|slip|tag] with "
        "[destination|sender|contents|handling marks] and [stick|fix|tie] it to the [long side|lid|handle]."
    ),
    (
        "Step {number} of {subject}: [carry|take|bring] everything to the [counter|loading bay|store "
        "room|collection shelf] during [opening hours|the morning|the quiet hour]."
    ),
    (
        "Step {number} of {subject}: [tick|mark|cross off] the [items|lines|boxes] on the "
        "[checklist|sheet|card] [one by one|in order|as you go]."
    ),
    (
        "Step {number} of {subject}: [save|store|upload] the [file|record|export] in the [case folder|shared "
        "folder|archive tray] and [lock|protect|close] it."
    ),
    (
        "Step {number} of {subject}: [call|ring|message] the [duty desk|porter|help point] if the "
        "[display|lamp|status] [stays red|does not change|shows an error]."
    ),
    (
        "Step {number} of {subject}: [rinse|wipe|clean] the [surface|bench|container|probe] with "
        "[water|alcohol|a dry cloth] and [let it dry|leave it open|cover it]."
    ),
    (
        "Step {number} of {subject}: [choose|select|pick] the [cost centre|project code|category] from the "
        "[drop-down list|table|card index] and [never|do not] [guess|leave it blank|copy an old one]."
    ),
    (
        "Step {number} of {subject}: [read|go through|study] the [summary|preview|overview] "
        "[aloud|twice|slowly] and [press|click] send only when it [is complete|matches the paper|makes "
        "sense]."
    ),
    (
        "Step {number} of {subject}: [measure|weigh|count] [again|once more|a second time] after [a "
        "minute|the pause|the warm-up] and [keep|use|report] the [lower|later|middle] value."
    ),
    (
        "Step {number} of {subject}: [return|give back|hang up] the [key|card|token|tool] and [have|get] the "
        "[return|hand-over] [entered|ticked|noted]."
    ),
    (
        "Step {number} of {subject}: [arrange|agree on|fix] a [time slot|date|window] with the "
        "[requester|recipient|driver] and [block|reserve|mark] it in the [calendar|planner|board]."
    ),
    (
        "Step {number} of {subject}: [separate|sort|divide] [metal from plastic|dry from wet goods|originals "
        "from copies|good parts from bad] before the [next person|truck|auditor] [arrives|takes over]."
    ),
    (
        "Step {number} of {subject}: [scan|read in|capture] the [code|barcode|chip] at the "
        "[door|gate|terminal] and [wait|listen] for the [tone|click|lamp]."
    ),
    (
        "Step {number} of {subject}: [check|confirm|make sure] that the [address|account|recipient] [still "
        "exists|is spelled correctly|agrees with the register]."
    ),
    (
        "Step {number} of {subject}: [remove|delete|strip] [personal data|old labels|test entries|hidden "
        "sheets] before [anything|a copy] leaves the [building|network|department]."
    ),
    (
        "Step {number} of {subject}: [hand|pass|give] the [envelope|folder|crate|token] to the [next "
        "station|courier|recipient] in person and [ask for|wait for] a [receipt|signature]."
    ),
    (
        "Step {number} of {subject}: [set|turn|move] the [switch|valve|selector|status] to "
        "[neutral|standby|in progress] and [watch|observe] it for [a while|a minute|some time]."
    ),
    (
        "Step {number} of {subject}: [put|hang|place] a [note|sign|cone|ribbon] at the "
        "[entrance|bench|socket|shelf] and [take it away|remove it] [afterwards|at the end|when all is "
        "clear]."
    ),
    (
        "Step {number} of {subject}: [look up|find|search for] the [previous|last|earlier] "
        "[case|entry|request] and [link|refer to|quote] it, so that the [history|thread|story] [stays "
        "whole|can be followed]."
    ),
    (
        "Step {number} of {subject}: [send|forward|mail] a [short|two-line|factual] [report|summary|note] to "
        "[everyone involved|the list|the case address] before [leaving|the day ends|closing time]."
    ),
    (
        "Step {number} of {subject}: [test|try|run] the [result|function|connection] with a "
        "[harmless|known|reference] [sample|file|signal] and [record|note] what [happens|comes out]."
    ),
    (
        "Step {number} of {subject}: [stop|pause|break off] if [anything smells|a value drifts|someone "
        "unknown appears|the alarm sounds], and [start again|resume] only [together|after a talk|with "
        "daylight]."
    ),
    (
        "Step {number} of {subject}: [update|correct|refresh] the [inventory|plan|wall chart|address list] "
        "while the [details|facts|figures] are [fresh|at hand|known]."
    ),
    (
        "Step {number} of {subject}: [thank|inform|call] the [requester|applicant|sender] and [ask|find out] "
        "whether [anything|something] [is missing|was unclear|should change]."
    ),
    (
        "Step {number} of {subject}: [empty|clear|sweep] the [tray|workbench|trolley|drawer] and [put|bring] "
        "the [tools|pens|cables] back [where they hang|into the case]."
    ),
    (
        "Step {number} of {subject}: [leave|keep|store] the [duplicate|second copy|carbon] in the "
        "[grey|blue|metal] cabinet, [sorted|filed] by [month|surname|case]."
    ),
    (
        "Step {number} of {subject}: [reset|clear|acknowledge] the [counter|alarm|reminder] and "
        "[close|finish|resolve] the [ticket|task|entry] with a [plain|meaningful|short] [remark|comment]."
    ),
    (
        "Step {number} of {subject}: [translate|rewrite|simplify] the [message|instruction|label] when the "
        "[recipient|driver|visitor] [reads another language|is new here|asks for it]."
    ),
    (
        "Step {number} of {subject}: [cool|warm|acclimatise] the [probe|sample|unit] until it [reaches|has] "
        "[room temperature|the temperature of the bench|a steady reading]."
    ),
    (
        "Step {number} of {subject}: [discuss|settle|clarify] any [gap|deviation|leftover] with the [person "
        "on duty|shift lead|requester] [on the spot|the same day|face to face]."
    ),
)
