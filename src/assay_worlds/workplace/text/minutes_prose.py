"""Sentences of minutes of meetings."""

from __future__ import annotations

PROSE = (
    (
        "[Present|In the room|Attending]: {person}, {other_person}, [and|plus] [several|two|a few] "
        "[guests|trainees|late arrivals]; [apologies|regrets] [came|were received] from [others|the sick|the "
        "travellers]."
    ),
    (
        "The [minutes|notes] of the [last|previous|April] [meeting|sitting] were [accepted|approved|adopted] "
        "with a [correction|small change|question mark] about {term}."
    ),
    (
        "{person} [opened|began|started] with a [look|glance] at the [open|leftover|overdue] "
        "[points|tasks|questions], [most|half|some] of which had [moved|aged|vanished] since {month}."
    ),
    (
        "[After|Following] a [long|lively|tired] [exchange|discussion|debate] on {term}, it was "
        "[agreed|resolved|noted] to [wait|ask again|try a small test|drop the matter]."
    ),
    (
        "{other_person} [objected|disagreed|warned] that the [plan|draft|idea] [underrates|forgets|ignores] "
        "[holidays|customs|wear|training], and [asked|wanted] to have that [recorded|in writing|minuted]."
    ),
    (
        "[Someone|A guest|A voice from the video wall] [wondered|asked] whether {term} and {other_term} are "
        "[really|in fact] [two|different|separate] things; [opinions|answers] [varied|differed]."
    ),
    (
        "[Action|To do|Task]: {person} [talks|writes|speaks] to {team} about the "
        "[drawings|samples|wording|open invoice] and [reports|returns|tells the group] [next time|by mail|in "
        "{month}]."
    ),
    (
        "The [projector|microphone|link|heating] [failed|gave up|went silent] for a [while|moment], which "
        "[some|the chair|nobody] [used|took] for [coffee|a private word|opening a window]."
    ),
    (
        "[Risk|Concern|Worry] [raised|voiced] by {team}: the [supplier|courier|printer] might "
        "[deliver|arrive|answer] [late|in the wrong order|without papers], as [in|it did in] {year}."
    ),
    (
        "It was [noted|remarked|pointed out] that {customer} has [called|written|asked] [again|twice] about "
        "the [label|manual|colour|delivery], and that the [answer|reply] should [be|sound] "
        "[friendly|short|final]."
    ),
    (
        "[Point|Item] on {product}: the [mock-up|housing|screen] was [passed|handed] round, "
        "[liked|criticised] for its [weight|corners|font], and [sent|given] back for [changes|a second "
        "coat|thought]."
    ),
    (
        "A [proposal|suggestion] to [merge|split|rename] the [lists|folders|channels] [found|met] "
        "[no|little] [support|response], [chiefly|mainly] for [fear|reasons] of [broken links|extra "
        "work|lost history]."
    ),
    (
        "{person} [showed|presented|explained] a [chart|table|photo series] on "
        "[returns|noise|drift|visitors], and was [asked|urged] to [add|show] [labels|a legend|last season] "
        "before [sharing|publishing] it."
    ),
    (
        "[Decision|Resolved|Agreed]: the [trial|pilot|test] with {vendor} [goes on|continues|stays] in its "
        "[present|small|quiet] form until [both sides|all sides] have [seen|read] the [report|numbers]."
    ),
    (
        "[Nobody|No one] [volunteered|stepped forward] for the [minutes|fair|inventory|cake], so the "
        "[task|honour] [fell|went] by [lot|alphabet|eye contact] to {other_person}."
    ),
    (
        "The [discussion|talk] [drifted|wandered] to [parking|the canteen|old prototypes|football], and was "
        "[called|brought] back by {person} with a [cough|smile|bell]."
    ),
    (
        "[Open|Unanswered] [question|point]: who [may|can] [change|edit] the {term} list once the "
        "[freeze|audit|handover] has [begun|started], and how [others|the rest] [learn|hear] of it?"
    ),
    (
        "{team} [announced|said|reported] that [testing|moving|hiring] [took|is taking] [longer|more "
        "patience] than [hoped|planned], with [reasons|details] in {code}."
    ),
    (
        "A [vote|show of hands] on the [name|colour|venue] [ended|came out] [narrowly|without a clear "
        "result], and will be [repeated|settled by mail|forgotten], as {person} [put|phrased] it."
    ),
    (
        "[Praise|Thanks] went to [the night shift|the apprentices|the front desk] for [calm|help|soup] "
        "during the [storm|audit|move], [recorded|minuted] at the [wish|request] of all."
    ),
    (
        "[Part|Some] of the [time|hour] was [spent|used] on [defining|explaining] {term} to [new|visiting] "
        "[members|colleagues], which [older|other] [hands|members] [found|called] [useful|overdue] too."
    ),
    (
        "The [timeline|schedule|roadmap] for {project} was [shown|displayed] without [comment|discussion], "
        "because the [author|speaker] was [absent|ill|stuck on a train]."
    ),
    (
        "[Correction|Amendment]: the [remark|sentence] about {office} in the [earlier|former] notes was "
        "[meant|intended] as a [joke|question], not as a [plan|decision]."
    ),
    (
        "{person} [asked|begged|reminded] all to [close|update|tidy] their [tickets|calendars|shelves] "
        "before the [holidays|stocktaking|visit], and [met|saw] [nods|sighs|blank looks]."
    ),
    (
        "[Two|Three] [options|ways] were [put|placed] on the [board|wall]: [repair|wait|rent] or "
        "[replace|buy|build]; [arguments|notes] for [each|both] are [photographed|attached] under {code}."
    ),
    (
        "It [remains|is] [unclear|open] whether the {term} test [needs|requires] a [witness|permit|new "
        "fixture], and {other_person} will [find out|ask around|call the lab]."
    ),
    (
        "The [mood|atmosphere] was [constructive|tense|cheerful], [helped|softened] by [cake|daylight|good "
        "figures], and [only|just] the [item|point] on [overtime|desks|passwords] [grew|became] [loud|long]."
    ),
    (
        "[Deferred|Postponed|Held over]: [travel|training|signage|storage], for [lack|want] of "
        "[time|papers|a quorum|the right people], to the [next|following] [round|meeting]."
    ),
    (
        "{team} and {other_team} [differ|disagree] about who [cleans|checks|feeds] the [test rig|shared "
        "inbox|demo account], and [promised|agreed] to [settle|sort] it [outside|over lunch]."
    ),
    (
        "A [letter|message] from {customer} was [read|quoted], which [praises|mentions] the "
        "[patience|manners] of the [fitters|hotline] and [ends|closes] with a [wish|question] about {term}."
    ),
    (
        "[Information|For the record]: the [lift|gate|oven] will be [out of use|repaired|tested] in {month}; "
        "[detours|substitutes|cold meals] have been [arranged|planned]."
    ),
    (
        "{person} [regretted|complained] that [decisions|drafts] [reach|get to] the [workshop|field] "
        "[late|by rumour], and [proposed|offered] a [short|weekly] [letter|call|walk]."
    ),
    (
        "[Numbers|Figures] were [quoted|named] from [memory|an old slide], [doubted|questioned] by "
        "[others|the accountant], and will be [checked|supplied] before they [enter|appear in] these "
        "[notes|minutes]."
    ),
    (
        "The [draft|outline] of the {term} leaflet was [read|gone through] [page by page|aloud], and "
        "[lost|shed] [adjectives|a photo|its last paragraph] on the [way|journey]."
    ),
    (
        "[Long|Some] [silence|thinking] [followed|came after] the question of what would [happen|break] if "
        "nobody [did|maintained|read] it [anymore|at all]."
    ),
    (
        "[Agreed|Settled] without [debate|objection]: [fewer|shorter] [mails|slides], [more|earlier] "
        "[samples|tests], and a [look|visit] at [how|the way] others [solve|do] it."
    ),
    (
        "The [guest|visitor] from {vendor} [answered|took] [questions|queries] on [delivery|spare "
        "parts|training], [politely|carefully] [avoided|skirted] [prices|dates], and [left|handed out] "
        "[brochures|pens|samples]."
    ),
    (
        "{other_person} [volunteers|offers] to [collect|sort] the [ideas|complaints|photos] on a [page|wall] "
        "called {term}, [open|visible] to [all|everyone] until the [next|following] [round|meeting]."
    ),
    (
        "[Technical|Side] note: the [recording|transcript] of this [call|meeting] is [incomplete|garbled] "
        "after the [break|network loss], so [please|kindly] [correct|add] what is [wrong|missing]."
    ),
    (
        "[Old|Lingering] [item|issue] {code} was [closed|struck off] to [mild|general] [applause|relief], "
        "[seasons|ages] after it had been [opened|raised] as [urgent|a quick fix]."
    ),
    (
        "On [tools|licences|laptops], {team} [asked|pleaded] for [patience|exact wishes], since the "
        "[order|request] form [rejects|loses] [attachments|umlauts|long names]."
    ),
    (
        "[Disagreement|Friction] about [file names|meeting times|test order] was [parked|shelved], with the "
        "[remark|comment] that [both|all] [ways|habits] have [worked|failed] [before|elsewhere]."
    ),
    (
        "{person} will [draft|sketch] a [reply|page|poster] on {term}, {other_person} [reads|checks] it, and "
        "[nobody|no third person] [edits|adds] [commas|logos] afterwards."
    ),
    (
        "[Lessons|Remarks] from the [fair|visit|rehearsal]: [bring|take] [tape|water|adapters], "
        "[rehearse|time] the [talk|demo], and never [rely|count] on the [hall|hotel] [network|printer]."
    ),
    (
        "The [round|meeting] [took|accepted] the [advice|view] of {team} that [haste|another tool|a new "
        "name] would [help little|solve nothing] here."
    ),
    (
        "[Next|The coming] [meeting|round] as [usual|in the calendar]; [topics|papers] to {person} [early|in "
        "time], and [please|kindly] no [zip files|surprises|novels]."
    ),
    (
        "Under [any other business|miscellaneous], [someone|{other_person}] [mentioned|raised] the "
        "[smell|draught|wasps] near the [store|stairs], which the [porter|guard] already knows about."
    ),
    (
        "The [subject|matter] of the {subject} was [extended|stretched] to [cover|include] {term}, as "
        "[several|some] [felt|thought] that the [two|topics] [belong|hang] together."
    ),
    (
        "[Praise|Blame|Credit] for the [quick|quiet|messy] [handover|launch|cleanup] was [shared|passed "
        "around] until the [coffee|time] [ran out|was gone]."
    ),
    (
        "[Minutes|Notes] [taken|written] by {other_person}, [who|and] [apologises|asks pardon] for "
        "[spelling|gaps|handwriting] and [invites|welcomes] [corrections|additions] in the [margin|thread]."
    ),
    (
        "{team} [withdrew|took back] its [request|paper] on {term} after [hearing|seeing] that a "
        "[similar|better|cheaper] [one|idea] is [under way|being tried] in {office}."
    ),
    (
        "A [straw poll|quick survey] [showed|suggested] that [few|many] have [opened|read|missed] the {term} "
        "page since {month}, and [opinions|jokes] about that were [plentiful|exchanged]."
    ),
    (
        "The [word|term] [deadline|final|temporary] was [used|heard] [freely|often], and {person} "
        "[asked|wished] that [it|this] be [defined|avoided|buried] in [future|these notes]."
    ),
    (
        "[Demonstration|Demo] by {person}: the [sensor|script|gripper] [worked|failed] at the [second|third] "
        "[attempt|try], to [friendly|ironic] [applause|remarks], and will be [shown|tried] again."
    ),
    (
        "[Interim|Preliminary] [results|impressions] from {office} are [mixed|promising|thin], and "
        "[should|must] not be [quoted|passed on] before {other_team} has [repeated|checked] them."
    ),
    (
        "[Housekeeping|Small things]: [badges|cups|chargers] [left|forgotten] in the [room|car|lab] are on "
        "the [window sill|shelf], and the [plant|fern] [needs|wants] [water|a new pot]."
    ),
    (
        "{person} [summed|wrapped] up: [much|a lot] [said|heard], [little|something] [decided|settled], "
        "[good|fair] [will|spirit] all round, and a [list|page] of [homework|errands]."
    ),
    (
        "[Questions|Doubts] about [liability|insurance|customs] for the {product} [demo set|loan pool|spare "
        "kits] go to [legal|the lawyers], with a [copy|note] to this [circle|group]."
    ),
    (
        "The [proposal|paper] by {other_person} to [rotate|share] the [chair|minutes|cooking] was "
        "[welcomed|adopted] [in principle|with laughter], [details|the order] to [follow|come]."
    ),
    (
        "Nothing [new|further|definite] was heard from the [warehouse|union|landlord|bank], which [the "
        "group|{person}] [took|read] as [good|neutral|ordinary] [news|weather]."
    ),
    (
        "[Finally|In closing], a [reminder|word] on [locks|visitors|data sticks], after a "
        "[stranger|reporter|lost parcel] was [found|met] in the [corridor|lift] in {month}."
    ),
)
