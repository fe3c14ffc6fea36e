"""What the sections that weigh and conclude say besides the themes, and the appendices."""

from __future__ import annotations

ORGANISATION = (
    "{operator} was [founded|set up] {dozen} years ago and [runs|serves] {few} routes in {region}.",
    "It [carries|transports] about {many} thousand persons a year.",
    "The company has {many} employees, {dozen} of them in the [workshop|office].",
    "Its accountable manager, {person}, has been in office since {month}.",
    "[Shares|All shares] are held by [the municipality|a family|a pension fund].",
    "The safety officer [reports|answers] to the head of [sales|operations].",
    "A handbook of {hundreds} pages [lays down|describes] who does what.",
    "Reports by staff go into a [box|web form]; {dozen} were [filed|received] in the year before.",
    "The Inspectorate [issued|granted] the present licence {few} years ago.",
    "The winter timetable [begins|starts] in {month}.",
    "{operator} has a [contract|service agreement] with {maker} for [spare parts|advice].",
    "Insurance is placed with a [mutual|company] in {place}.",
    "In the past {few} years {operator} [notified|reported] {few} minor events.",
    "The works council was [heard|consulted].",
    "The council of {region} [subsidises|supports] the line with {hundreds} crowns a day.",
    "The [crew room|canteen] at {place} was [rebuilt|renovated] in {month}.",
)

ANALYSIS = (
    "The Board [asked itself|examined] why a [routine|simple] trip ended in {outcome}.",
    "[Several|{few}] [explanations|hypotheses] were tested; [two|one] could be [discarded|set aside] early.",
    (
        "The [accounts|statements] of the {lead} and the {mate} [differ|diverge] on the order of events, "
        "not on the facts."
    ),
    "The [marks|traces] at the scene and the [film|recording] [fit|tell the same story].",
    (
        "Had the {craft} [stopped|been halted] {dozen} metres earlier, the damage would have been "
        "[slight|small]."
    ),
    "Hindsight makes the [choice|decision] look worse than it [was|appeared at the time].",
    "The Board sees no [intent|recklessness] on the part of the {lead}.",
    (
        "The event recalls that of {other}, {report_year}, in which the [setting|place] was the same but "
        "the reasons were not."
    ),
    "What [matters|counts] is less who erred than why the error was not caught.",
    "A [barrier|line of defence] that [works|holds] on ordinary days did not do so {phase}.",
    "The [calculation|reconstruction] leaves an uncertainty of {dozen} per cent.",
    "{operator} [accepts|does not accept] this reading; its [comment|letter] is in the file.",
    "The {part} [deserves|calls for] a closer look.",
    "The [rescue|help] that followed was [quick|well led] and kept the [toll|harm] down.",
    "Chance [played|had] its part: {few} minutes later a [school|works] party would have been there.",
    "The [margin|reserve] on this route is small [at the best of times|even on good days].",
    "The {mate} [did|acted] as [one would expect|the book asks].",
    "The Board [weighed|considered] the view of {person}, called by {maker}, and [shares|does not share] it.",
    "Nothing [suggests|points to] [sabotage|a third party].",
    "The question is [whether|if] the {lead} could have known; the Board [thinks so|has its doubts].",
    "The [earlier|previous] trips that day give no hint of what was to come.",
    "[Similar|Comparable] operators in {region} [handle|solve] this otherwise.",
    "[Taken together|Seen as a whole], the evidence [supports|favours] the account given here.",
    "The [path|route] of {name} {phase} left {dozen} seconds for a decision.",
)

FINDING = (
    "The crew were licensed for the trip.",
    "{name} was registered and insured.",
    "The {craft} carried {aboard} persons.",
    "The event happened {phase}.",
    "{dispatcher} acted within its rules.",
    "The first helpers arrived after {dozen} minutes.",
    "The {outcome} could not be averted once it had begun.",
    "The {part} was of the approved pattern.",
    "The recording was of [use|little use] to the inquiry.",
    "Other traffic near {landmark} had no influence.",
    "The hospital at {place} was told in good time.",
    "The damage came to {hundreds} thousand crowns.",
    "The forces were survivable.",
    "{toll}",
    "The {model} had been in service for {few} years.",
    "The passengers behaved [sensibly|with calm].",
)

CAUSE = (
    "The {board} [determines|finds] the cause of the {outcome} involving {name} as follows.",
    "In the Board's [judgement|view] the accident to {name} near {landmark} [came about|arose] in this way.",
    "The {outcome} at {operator} had [more than one|its] cause.",
    "[On the balance of probabilities|Most probably], this is what brought about the {outcome} {phase}.",
    "Having weighed the evidence, the Board [states|concludes] the following about {name}.",
)

CAUSE_LINK = (
    "[Contributing|Contributory] to the accident:",
    "To this was added:",
    "The Board also [names|holds to be a factor]:",
    "[Behind this|Further back] stood another circumstance:",
)

CAUSE_CLOSE = (
    (
        "Without [these|the] circumstances the trip to {bound} would have [ended|passed] like {hundreds} "
        "before it."
    ),
    "No other [factor|circumstance] is [needed|required] to explain what happened at {landmark}.",
    "The statement was [adopted|agreed] by {few} members; {person} [dissented|abstained].",
    "The Board [stresses|adds] that a cause is not a fault in law.",
    "The [order|sequence] in which they are named is no [ranking|measure of weight].",
    "Whether the {mate} could have [prevented|stopped] it remains open.",
    "The Board will return to the matter if {maker} presents new [facts|evidence].",
    "This [wording|text] was adopted at {place} on {adopted}.",
)

ADVICE_OPEN = (
    "On the [strength|basis] of this inquiry the {board} [recommends|advises]:",
    "The Board [addresses|directs] the following to {operator}, {maker} and the Inspectorate:",
    "[Safety|Three safety] recommendations [follow|arise] from the accident to {name}:",
    "In order that the {outcome} at {landmark} not be repeated, the Board asks:",
)

ADVICE = (
    "That the [scene|stretch] at {landmark} be [fenced|surveyed] before {month}.",
    "That {operator} [tell|inform] the Board within {dozen} weeks of what it has done.",
    "That a copy of this text be [posted|hung] in every crew room.",
    "That {maker} send a service letter to all [owners|users] of the {model}.",
    "That the council of {region} mend the [path|access road] by which rescuers came.",
    "That passengers be told in {few} languages where to sit and what to hold on to.",
    "That the [camera|recorder] be given a clock that sets itself.",
    "That first-aid boxes be [moved|brought] nearer to the doors.",
    "That {dispatcher} be given a second [telephone|desk].",
    "That the {few} remaining units of the series be looked at before the [season|winter].",
    "That hospitals and rescue services in {region} hold a joint exercise.",
    "The Board asks for an answer within {many} days.",
    "[Earlier|Previous] advice of {earlier_year} is hereby [closed|withdrawn].",
)

APPENDIX = (
    "The [table|list] [overleaf|below] gives {dozen} measured points between {place} and {bound}.",
    "Interviews were held with {dozen} persons, {few} of them by telephone.",
    "Photograph {few}: the {craft} seen from {landmark}, on the day after.",
    "Plate {few} shows the {part} [before|after] cleaning.",
    "Abbreviations: TSB, {board}; OPS, operations; REC, recorder.",
    "[Parties|The parties] had {many} days to comment; {operator} [sent|wrote] {few} pages.",
    "{maker} [asked|wished] for {few} changes, of which one was [made|accepted].",
    "Members of the inquiry: {person} (chair), {surname_2}, {surname_3}.",
    "The map is [based on|drawn from] sheet {dozen} of the survey of {region}.",
    "Distances are in metres from the [mark|post] at {place}.",
    "The file is kept at {place} under number {thousands} and may be seen on request.",
    "Notification: {date}. Arrival on the scene: {few} hours later.",
    "Draft sent out in {month}; final text adopted {dozen} weeks later.",
    "[Transcript|Log] extracts are given without [names|greetings].",
    "Costs of the inquiry: {hundreds} thousand crowns, [borne|met] by the state.",
    "The [drawing|sketch] is not to scale.",
    "Mass and balance sheet of {name}: empty {thousands} kg, crew {many} kg.",
    "Earlier events considered: {other}, {report_year}.",
)
