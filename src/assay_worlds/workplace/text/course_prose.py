"""Sentences that stand around the facts of a course."""

from __future__ import annotations

PROSE = (
    (
        "[Participants|Learners|Attendees] [bring|carry] a [notebook|laptop|calculator] and a "
        "[case|problem|sample] from their own [work|bench|desk], which is [taken apart|discussed|solved] in "
        "[pairs|small groups|the closing round]."
    ),
    (
        "The [handout|script|workbook] was [revised|shortened|illustrated] in {month}, following "
        "[remarks|advice|criticism] that the [part|chapter|exercise] on {term} was [too dry|too long|hard to "
        "follow]."
    ),
    (
        "[No|Hardly any] [mathematics|prior knowledge|software] is [needed|expected|assumed], although those "
        "who [remember|know] a little [algebra|statistics|physics] will [feel at home|move faster|enjoy the "
        "margins]."
    ),
    (
        "[Cancellations|Withdrawals|Swaps] are [easy|possible] in the [portal|calendar], and "
        "[freed|returned|unused] [places|seats] [go|pass] to [whoever|the person who] is [first|next] on the "
        "[waiting|reserve] list."
    ),
    (
        "The [morning|opening|first part] is [given|devoted] to [theory|vocabulary|demonstrations], the "
        "[afternoon|second part|rest] to [practice|trial runs|mistakes], with a [walk|stretch|quiz] in "
        "between."
    ),
    (
        "In the survey, [former|earlier|past] [participants|students|groups] [praised|liked|enjoyed] the "
        "[pace|humour|real examples|clear drawings], and [missed|wanted] [more|longer|better] "
        "[breaks|practice|reading lists]."
    ),
    (
        "A [short|friendly|written] [test|quiz|assignment] at the [end|close] [shows|reveals] what has "
        "[stuck|been understood], and may be [repeated|retaken|discussed] without [shame|cost|fuss]."
    ),
    (
        "[Rooms|Screens|Headsets|Lab coats] are [provided|prepared|laid out] by the [academy|training "
        "desk|hosts], who [also|kindly] [see to|arrange] [coffee|name tags|parking|lunch]."
    ),
    (
        "The [idea|wish|need] for {subject} [arose|came up] after [a mishap|an audit|a survey|a merger] in "
        "{year}, when [nobody|few people] [knew|could explain] what {term} [meant|was for]."
    ),
    (
        "[Examples|Exercises|Case studies] are [drawn|taken] from [real|past|closed] "
        "[orders|projects|complaints], with [names|figures|places] [changed|removed|blurred] at the "
        "[request|wish] of {customer}."
    ),
    (
        "[Recordings|Slides|Solutions] are [put|made available] on the [learning|academy|video] page "
        "[afterwards|later], where they [stay|remain] for those who [missed|want to repeat] a [part|session]."
    ),
    (
        "[Managers|Supervisors|Group leads] should [talk|speak] with the [learner|participant] "
        "[before|after] the course about what [is to change|will be tried|was useful] in [daily|practical] "
        "[work|life]."
    ),
    (
        "{person} [wrote|drew|collected] the [exercises|cartoons|examples], some of which have "
        "[become|turned into] [sayings|legends|running jokes] among {team}."
    ),
    (
        "[Please|Kindly] [arrive|log in|be seated] a little [early|before the start], as the [door|badge "
        "gate|link|sound check] is [slow|moody|sometimes a nuisance]."
    ),
    (
        "[Questions|Doubts|Objections] are [welcome|invited|wanted] at [any|every] [point|moment]; "
        "[silence|nodding|politeness] is [taken|understood] as a [sign|hint] to [go on|speed up]."
    ),
    (
        "The [group|class|circle] is kept [small|mixed|stable] so that [everyone|each person] [gets|has] a "
        "[turn|chance] at the [instrument|keyboard|whiteboard|bench]."
    ),
    (
        "A [library|shelf|trolley] of [books|standards|articles] on {term} [waits|stands] at the [back|side] "
        "of the room and may be [browsed|borrowed|photographed]."
    ),
    (
        "[Certificates|Confirmations|Badges] are [printed|mailed|issued] [automatically|on request], and "
        "[lost|old|misspelled] ones are [replaced|reissued] by the [academy|training desk]."
    ),
    (
        "[Interpreters|Captions|Translated slides] can be [arranged|ordered|booked] for "
        "[colleagues|visitors|partners] who [prefer|need] [Polish|German|Sign|Portuguese] language, if the "
        "[wish|need] is [known|mentioned] [early|at enrolment]."
    ),
    (
        "The [syllabus|outline|table of contents] [covers|touches|includes] [vocabulary|tools|law|typical "
        "errors], a [tour|round] of the [laboratory|archive|line], and a [talk|chat] with [practitioners|an "
        "auditor|a guest]."
    ),
    (
        "[Homework|Preparation|Reading] is [light|modest|optional]: a [page|film|leaflet] about {term}, and "
        "a [list|note] of one's own [questions|stumbling blocks|cases]."
    ),
    (
        "[Outsiders|Partners|Students] may [join|attend|listen] when [seats|places] [remain|are left], "
        "[provided|as long as] a [confidentiality|visitor] [form|slip] has been [signed|handed in]."
    ),
    (
        "[Feedback|Evaluation] [forms|sheets] are [anonymous|short|on paper], are [read|studied] by the "
        "[academy|authors], and have [changed|altered|improved] the [order|tone|length] of [several|many] "
        "[sections|units]."
    ),
    (
        "The [room|venue|studio] [changes|varies] from run to run; the [invitation|calendar entry|mail] "
        "[names|shows] the [right|current] one, and [signs|posters] [point|lead] the way."
    ),
    (
        "[Beginners|Veterans|Sceptics|Quiet people] have [often|sometimes] [contributed|put forward] the "
        "[best|most useful|boldest] [questions|ideas], which is why the [mix|mixture] is [deliberate|kept]."
    ),
    (
        "[Nothing|No story] that is [said|told|admitted] in the [room|session] about [errors|near "
        "misses|bosses] [leaves|goes beyond] it, a [rule|promise] [kept|held] since the [first|earliest] run."
    ),
    (
        "{subject} [fits|goes] [well|nicely|neatly] with the [seminar|module|reading circle|lab day] on "
        "{term}, although neither [requires|presupposes] the other."
    ),
    (
        "[Equipment|Software|Test pieces] [used|handled] in the [exercises|practice] must be "
        "[returned|cleaned|counted] [together|at the end], so nobody [leaves|runs off] [early|before the "
        "last round]."
    ),
    (
        "The [academy|training desk|learning office] [keeps|holds] a [list|pool] of [stand-ins|guest "
        "speakers|former participants] in case [illness|a strike|snow] [upsets|changes] the [plan|calendar]."
    ),
    (
        "[Energetic|Critical|Tired] [groups|classes] are [best|well] [served|met] with [more|earlier] "
        "[practice|breaks|contests], as a [remark|note] in the [trainer's|teacher's] [guide|file] "
        "[says|suggests]."
    ),
    (
        "[Role plays|Mock audits|Simulated alarms|Blind tests] are [part|a feature] of the "
        "[second|closing|final] [block|session], and [cause|produce] [laughter|sweat|insight] in "
        "[equal|varying] [measure|amounts]."
    ),
    (
        "The [link|bridge] between [theory|rule] and [practice|habit] is [made|shown] by [visits "
        "to|interviews in|photographs from] {office}, where the {term} method was [first|originally] "
        "[tried|used]."
    ),
    (
        "[Absence|Lateness|Leaving early] is [noted|recorded|excused] like [anywhere|everywhere] else, and "
        "[missed|lost] [parts|units] can be [caught up|repeated|read] in the [next|following] run."
    ),
    (
        "[Ideas|Suggestions|Wishes] for [new|further|other] [topics|cases|formats] are [collected|gathered] "
        "on a [board|sheet|page] named {term}, and [voted|decided] on in {month}."
    ),
    (
        "A [mentor|partner|buddy] from an [earlier|older] [run|group] can be [assigned|found|asked] for "
        "those who [want|wish] to [practise|continue|apply it] [afterwards|on the job]."
    ),
    (
        "[Standards|Laws|Guidelines] [quoted|cited|named] in the [slides|script] are [checked|updated] "
        "before [each|every] [run|season], the last time by {person} and {other_person}."
    ),
    (
        "[Coffee|Tea|Water|Fruit] is [free|there], [lunch|a meal] is [taken|eaten] in the "
        "[canteen|courtyard], and [dietary|special] [needs|wishes] are [no problem|noted at enrolment]."
    ),
    (
        "The [tone|style|mood] is [informal|relaxed|practical]; [first names|plain words|bad drawings] are "
        "[usual|encouraged], and [jargon|small print|false modesty] is [mocked|avoided]."
    ),
    (
        "[Half|Some|Most] of the [material|content] was [inherited|adapted] from a [seminar|course] that "
        "{vendor} [once|formerly] [held|offered], and has [changed|grown] [beyond recognition|a lot] since."
    ),
    (
        "[Measuring|Counting|Judging] the [effect|benefit] of such [training|courses] is [hard|difficult], "
        "but the {term} survey [asks|inquires] [anyway|each year] whether [habits|results|moods] "
        "[changed|improved]."
    ),
    (
        "The [enrolment|registration|booking] [button|page|form] [opens|appears] in {month}, and "
        "[reminders|invitations] are [sent|posted] [once|twice] so that [mailboxes|patience] [survive|last]."
    ),
    (
        "[Participants|Learners|Guests] with [hearing|visual|walking] [difficulties|aids] are "
        "[asked|invited] to [mention|say] what [helps|would help]; the [team|hosts] [can|will] "
        "[adapt|arrange] [a lot|most things]."
    ),
    (
        "[Stories|Anecdotes|War stories] from the [field|shop floor|help desk] are [allowed|welcome] as long "
        "as they [end|finish] with a [lesson|question|moral]."
    ),
    (
        "A [reading|study|practice] circle [grew|formed] out of {subject} and [meets|gathers] "
        "[informally|over lunch|in the canteen] to [work|go] through [papers|problems|old exams]."
    ),
    (
        "[Slides|Texts|Films] are [owned|licensed] by the company and may be [used|shown] "
        "[inside|internally]; [outside|public] use [needs|requires] a [word|talk] with {team}."
    ),
    (
        "[Those|People] who [teach|explain] what they [learned|heard] to a [colleague|neighbour] "
        "[soon|early] [keep|retain] [more|most] of it, as the [academy|training desk|script] [likes|never "
        "fails] to say."
    ),
)
