"""Sentences that stand around the facts of a committee."""

from __future__ import annotations

PROSE = (
    (
        "[Agenda|Discussion|Information] items are [proposed|handed in|suggested] on a "
        "[single|plain|one-sided] page that [states|says] the [question|options|costs] and the "
        "[wish|leaning] of the [sender|author]."
    ),
    (
        "[Guests|Observers|Experts] may [attend|speak|listen] for [single|particular|open] items, "
        "[leave|withdraw] before the [vote|count], and [respect|observe] the [confidence|quiet] of the "
        "[room|table]."
    ),
    (
        "The [tone|style] of the [sittings|debates] is [sober|friendly|brisk]; [speeches|slides|anecdotes] "
        "are [rare|discouraged|timed] and [jokes|sweets|knitting needles] are [welcome|tolerated]."
    ),
    (
        "[Decisions|Opinions|Recommendations] are [published|posted|circulated] on the "
        "[committee|governance|staff] page with [reasons|dissent|a summary], unless "
        "[persons|contracts|patents] are [concerned|named|at stake]."
    ),
    (
        "[Members|Delegates|Representatives] are [drawn|chosen|sent] from [different|several|distant] "
        "[departments|towns|trades], so that no [single|loud] [interest|office] [prevails|sets the tone]."
    ),
    (
        "The [budget|means|purse] of the [body|circle|table] is [small|modest|symbolic] and [pays|goes] for "
        "[travel|sandwiches|an outside opinion|a yearly dinner]."
    ),
    (
        "A [subgroup|working party|small circle] on {term} was [set up|formed|asked] in {month} to "
        "[sort|draft|compare] [definitions|offers|proposals], and [reports|returns] when [ready|done]."
    ),
    (
        "[Conflicts|Clashes] of [interest|loyalty] are [declared|mentioned|written down] at the "
        "[start|opening], and the [person|member] [concerned|affected] [leaves|steps out|stays silent]."
    ),
    (
        "[Recently|Last season|In {year}], the [debate|talk|argument] [turned|circled] around {term}, with "
        "{person} [keen|in favour|sceptical], {other_person} [against|opposed|undecided], and the "
        "[rest|others] [hungry|tired|amused]."
    ),
    (
        "The [work|influence|weight] of the {subject} is [felt|seen|noticed] [mostly|chiefly] in "
        "[small|dull|daily] things: [forms|labels|door signs|wording], [rarely|seldom] in "
        "[headlines|speeches]."
    ),
    (
        "[Written|Circular|Electronic] votes are [possible|used] in [holidays|urgent cases|quiet months], "
        "but [minds|views] [change|shift] more [easily|often] in [person|the room], as [experience|the "
        "archive|{person}] shows."
    ),
    (
        "[Papers|Drafts|Annexes] that [arrive|come] [late|unsigned|unnumbered] are [held over|put "
        "off|returned], a [habit|rule] that {team} has [learned|felt] [more than once|the hard way]."
    ),
    (
        "[Newcomers|New members|Substitutes] [receive|are given] a [folder|tour|lunch] with the [charter|old "
        "decisions|list of abbreviations], and [sit|stand] beside an [older|experienced] [hand|member] at "
        "first."
    ),
    (
        "The [archive|cabinet|drive] [holds|contains] [decades|boxes|shelves] of [minutes|letters|tapes], "
        "[indexed|sorted] by {term} and [readable|open] to [staff|historians|auditors] on [request|Fridays]."
    ),
    (
        "[External|Independent|Retired] [advisers|specialists|judges] have been [heard|invited|consulted] on "
        "[lasers|law|pensions|noise], and their [fees|letters|remarks] are [filed|kept] under {code}."
    ),
    (
        "[Silence|Absence|A shrug] is [not|never] [counted|taken] as [consent|a vote]; [members|those] who "
        "[cannot|do not] come send a [stand-in|note] [beforehand|in their place]."
    ),
    (
        "A [proposal|motion|request] that [fails|falls] may [return|come back] [after|with] [new|better] "
        "[facts|figures|arguments], though not at the very next [sitting|session]."
    ),
    (
        "The [room|table|screen] is [set up|prepared] by [apprentices|the porter|whoever is first], and the "
        "[clock|gavel|bell] is a [gift|relic] from [a retired member|a trade fair|{customer}]."
    ),
    (
        "[Complaints|Letters|Petitions] from [staff|neighbours|pensioners] are [read "
        "aloud|answered|acknowledged] in [full|writing], even the [rude|anonymous|rambling] ones, within "
        "[reason|limits]."
    ),
    (
        "[Joint|Common|Shared] [sittings|sessions] with [sister|other|neighbouring] [bodies|panels|tables] "
        "are [held|tried] when [topics|duties] [overlap|collide], [last|most recently] about {term} and "
        "{other_term}."
    ),
    (
        "{team} [presented|showed|explained] its [plans|figures|mock-ups] in {month}, [took|received] "
        "[sharp|kind|many] [questions|remarks], and was [asked|invited] to [come back|rework the "
        "annex|return]."
    ),
    (
        "The [charter|rule book|mandate] [says|states] nothing about [dress|phones|dogs|knitting], and the "
        "{subject} has [so far|always] [managed|coped] without [amending|changing] it."
    ),
    (
        "[Votes|Ballots|Elections] are [open|secret|by cards], [ties|draws] are [broken|settled] by "
        "[lot|debate|a second round], and [results|counts] are [read out|written down] at once."
    ),
    (
        "[Travel|Hotel|Meal] [costs|bills] of [members|delegates] are [handled|refunded] like those of "
        "[any|ordinary] [business|work] trips, and [partners|friends] [pay|travel] [their own "
        "way|separately]."
    ),
    (
        "[Some|Critics|Wits] call the [body|panel|table] [slow|cautious|old-fashioned]; "
        "[others|friends|veterans] [answer|reply] that [haste|novelty|noise] has [cost|harmed] the company "
        "[more|enough]."
    ),
    (
        "An [annual|occasional|official] [excursion|visit|seminar] [leads|takes] the [group|members] to a "
        "[plant|museum|customer|harbour], where [rules|ideas] [meet|touch] [real|oily|daily] [life|work]."
    ),
    (
        "[Topics|Subjects|Dossiers] [waiting|parked|queued] for [attention|a slot] include {term}, the "
        "[wording|labels] of [leaflets|screens], and a [letter|question] from {customer}."
    ),
    (
        "The [minutes|notes|protocol] are [short|terse|dry] by [design|custom]: who was [there|present], "
        "what was [asked|decided|put off], and [why|on what grounds]."
    ),
    (
        "[Language|Translation|Hearing] [support|help] is [available|arranged], and [documents|papers] are "
        "[sent|shared] in [large|plain|simple] [print|type] on [request|wish]."
    ),
    (
        "[Ideas|Requests|Warnings] can be [dropped|left|posted] in the [wooden|blue|virtual] "
        "[box|tray|channel] named {term}, [signed or not|with or without a name]."
    ),
    (
        "The [relation|boundary|border] between [advice|opinion] and [decision|order] has been "
        "[drawn|debated|tested] [often|again], most recently over the {project} [question|affair|plan]."
    ),
    (
        "[Press|Media|Outside] [inquiries|calls] about the [work|opinions] of the [body|panel] go to the "
        "[press|communications] office, [never|not] to [single|individual] [members|delegates]."
    ),
    (
        "[Attendance|Punctuality|Preparation] has [improved|suffered|recovered] since [sittings|meetings] "
        "[moved|shifted] to the [morning|video room|canteen annex], as the [secretary's|yearly] "
        "[table|overview] [shows|suggests]."
    ),
    (
        "[Members|Delegates] who [miss|skip] [several|too many] [sittings|sessions] are asked "
        "[kindly|privately] whether they [wish|want] to [stay|continue|hand over]."
    ),
    (
        "A [history|chronicle|collection of anecdotes] of the {subject} was [written|compiled|printed] by "
        "[pensioners|an intern|a former member] and [lies|is found] in the [library|lobby|archive]."
    ),
    (
        "[Drafts|Models|Prototypes|Samples] are [passed|handed] round the [table|room] where "
        "[possible|safe], since [touching|seeing] [settles|ends] [arguments|doubts] that [slides|papers] "
        "[only|merely] [feed|lengthen]."
    ),
    (
        "[Minority|Dissenting|Separate] [opinions|statements] are [attached|added] [unedited|in full], and "
        "have [twice|sometimes|later] [proved|turned out] [right|useful|prophetic]."
    ),
    (
        "The [seating|speaking|signing] order [follows|goes by] the [alphabet|clock|window], "
        "[rotates|changes] [yearly|each time], and [prevents|avoids] [camps|blocs|sleep]."
    ),
    (
        "[Urgent|Delicate|Technical] [matters|questions] are [prepared|pre-cooked|thinned out] in "
        "[bilateral|small|corridor] talks, [which|something that] the [charter|mandate] neither "
        "[forbids|bans] nor [praises|mentions]."
    ),
    (
        "[Evaluation|Self-criticism|A review] of its own [work|usefulness] is [done|made] [now and "
        "then|every so often], with a [survey|talk|visitor], and leads to [shorter|fewer|clearer] "
        "[papers|items|rules]."
    ),
    (
        "[Powers|Duties|Tasks] [delegated|given] by the [executive|owners|management] can be "
        "[withdrawn|changed] from above, which [happened|was tried] in {year} over {term}."
    ),
    (
        "[Coffee|Water|Bread] comes first, [regrets|apologies] second, [old|open] [business|points] third, "
        "and only then the [subject|item] for which [everyone|half the room] [came|travelled]."
    ),
    (
        "[Confidential|Personal|Sealed] [papers|files] are [numbered|printed on blue paper|collected] "
        "[afterwards|at the door] and [shredded|locked away] by [two|trusted] [people|members]."
    ),
    (
        "[Decisions|Opinions] [addressed|sent] to {other_team} are [followed|answered] by a [short|written] "
        "[reply|report] that [tells|says] what was [done|changed|ignored] and for what [reason|cause]."
    ),
    (
        "[Trainees|Students|Works delegates] may [sit in|watch|listen] [twice|once] for [learning|training], "
        "and [often|sometimes] [ask|pose] the [question|one question] that [nobody|no member] [dared|thought "
        "of]."
    ),
    (
        "The [closing|last|final] [item|point] is [always|by custom] [any other business|a round of "
        "remarks|the next agenda], and it [tends|seems] to [last|run] longer than [planned|the rest]."
    ),
)
