"""Sentences of memos."""

from __future__ import annotations

PROSE = (
    (
        "[Dear|Good morning|Hello] [colleagues|all|everyone], a [brief|short|dry] [note|word|reminder] about "
        "{subject}, which has [come up|been asked about|caused confusion] [again|in several places|since "
        "{month}]."
    ),
    (
        "The [reason|occasion|trigger] for this [memo|note|circular] is a [question|complaint|mix-up] in "
        "{office}, where [two|different] [labels|lists|habits] had [existed|lived] side by side."
    ),
    (
        "[Nothing|Little] [changes|will change] for those who [already|always] [follow|kept to] the {term} "
        "page; the [others|rest] are [asked|invited] to [read|open] it [once|today]."
    ),
    (
        "[Please|Kindly] [pass|hand] this [on|along] to [colleagues|people] who [rarely|seldom] [open|see] "
        "their mail, such as [drivers|fitters|the late shift]."
    ),
    (
        "[Earlier|Older|Previous] [notes|circulars] on the [matter|subject], among them {code}, are "
        "[withdrawn|void|out of date] and [may|should] be [taken down|recycled]."
    ),
    (
        "{team} has [looked|gone] into the [numbers|complaints|photos], and [finds|concludes] that the "
        "[problem|trouble] lies less in [people|will] than in the [wording|layout|tool]."
    ),
    (
        "We [know|understand] that [some|many] will [find|call] this [fussy|late|obvious], and [ask|beg] for "
        "[patience|goodwill] until the [dust|first month] has [settled|passed]."
    ),
    (
        "An [example|illustration]: a [crate|folder|badge] marked {term} [travelled|wandered] to the wrong "
        "[town|floor|customer] and back, because [nobody|no label] said where it [belonged|was going]."
    ),
    (
        "[Practical|Good|Simple] [habits|steps] [help|go a long way]: [write|use] [full|plain] names, "
        "[close|lock] [doors|files], [tell|inform] the [next|following] [person|shift]."
    ),
    (
        "[Questions|Comments] [go|should be sent] to {person}, [preferably|ideally] in [writing|one mail], "
        "so that [answers|replies] can be [collected|shared] with [all|others]."
    ),
    (
        "The [management|executive group] [thanks|is grateful to] [everyone|those] who "
        "[helped|counted|carried|stayed late] in {month}, [especially|above all] the [quiet|unseen] ones."
    ),
    (
        "[Rumours|Guesses] that {project} has [anything|something] to do with [this|it] are "
        "[unfounded|mistaken]; the [two|matters] [merely|only] [share|have] the same "
        "[calendar|corridor|printer]."
    ),
    (
        "A [poster|sticker|template] will be [sent|handed out|hung] in the [coming|next] [days|weeks]; "
        "[local|own] [designs|versions] are [charming|creative] but [confuse|mislead] [visitors|auditors]."
    ),
    (
        "[Where|If] [space|time|money] is [short|tight], [common sense|a call] [beats|is better than] any "
        "[rule|memo], provided [somebody|the shift] [writes|notes] [it|that] down [afterwards|later]."
    ),
    (
        "[From|Since] {month}, the [portal|form|drawer] [looks|is] [different|tidier]; the "
        "[functions|contents] are [the same|unchanged], only the {term} [button|tray] has [moved|a new "
        "place]."
    ),
    (
        "[Contractors|Visitors|Temporary staff] should be [told|shown] [personally|in person], as they "
        "[receive|get] neither [mail|newsletters] nor [access|a login] to the [portal|board]."
    ),
    (
        "The [works council|safety group|data protection officer] has [seen|read] this [text|note], "
        "[made|had] [small|no] [remarks|changes], and [supports|welcomes] the [aim|direction]."
    ),
    (
        "The [costs|efforts] [involved|caused] are [small|modest] and [stay|remain] with [each|the] "
        "[department|unit]; [no|no extra] [codes|forms|meetings] are [needed|planned]."
    ),
    (
        "Let us [be|stay] [honest|frank|fair]: [half|much] of what [lies|sits] on the [shelves|drives] is "
        "neither [used|known] nor [missed|wanted], and {subject} would be a [fair|good] place to "
        "[start|begin]."
    ),
    (
        "{person} [suggested|proposed] a [trial|test] in [one|a single] [building|team] first, and the "
        "[experience|result] [there|so far] [supports|justifies] this [wider|general] [step|request]."
    ),
    (
        "[Those|People] [affected|concerned] by the [move|switch|repair] will be [told|called] "
        "[individually|directly], and need do [nothing|little] until [then|that call]."
    ),
    (
        "The [wording|spelling] {term} is [preferred|right] in [letters|labels|slides]; {other_term} is "
        "[tolerated|fine] in [speech|old files] but not in [contracts|exports]."
    ),
    (
        "[Surveys|Interviews|Walks] [showed|suggested] that [most|many] [want|prefer] [fewer|clearer] "
        "[messages|signs], which is [why|a reason that] this [memo|note] [stops|ends] [soon|on this page]."
    ),
    (
        "[Exceptions|Special wishes] are [possible|heard], and [should|may] be [explained|sent] with "
        "[dates|photos|numbers] to {team}, who [answers|replies] [in turn|as soon as it can]."
    ),
    (
        "[In|During] the [heat|cold|rush] of {month} the [rule|habit] was [relaxed|suspended]; that "
        "[time|exception] is [over|past], however [pleasant|handy] it [was|seemed]."
    ),
    (
        "[Managers|Group leads] will kindly [mention|raise] this in the [next|coming] [round|stand-up], and "
        "[report|send] [odd|local] [cases|wishes] [back|upwards]."
    ),
    (
        "A [word|remark] on [tone|manners]: the [front desk|service desk|stores] [does|means] its "
        "[best|work], and [shouting|sarcasm|capital letters] [hurries|helps] nobody."
    ),
    (
        "The [attachment|annex] [lists|shows] [places|items|contacts] as of [today|{month}]; [errors|gaps] "
        "are [likely|certain], [corrections|hints] [welcome|gladly taken]."
    ),
    (
        "[Security|Insurance|Audit] [reasons|concerns] [stand|are] behind [part|some] of this, [about|on] "
        "which [details|more] cannot be [given|written] in a [memo|circular]."
    ),
    (
        "[Leftover|Unclaimed|Unlabelled] [goods|boxes|files] will be [moved|cleared] to the {term} corner, "
        "and [later|eventually] [auctioned|recycled] for a [good|local] [cause|school]."
    ),
    (
        "[By|At] the [wish|request] of {team}, the [old|former] [address|number|link] [works|stays] [a "
        "while|for some time], [forwards|points] to the new one, and then [falls|goes] silent."
    ),
    (
        "[If|Should] you [receive|get] [angry|puzzled] [calls|mails] from {customer} or [others|elsewhere] "
        "about this, [stay|remain] [calm|kind] and [refer|point] to {person}."
    ),
    (
        "The [change|arrangement] was [tested|rehearsed] with {other_team}, [who|which] [found|saw] "
        "[three|some] [snags|gaps], [all|most] of them [mended|closed] by [now|the weekend]."
    ),
    (
        "[Thank you|Thanks] for [reading|bearing with us] to the [end|last line]; [few|not many] "
        "[memos|circulars] [can|may] [claim|say] that of their [readers|audience]."
    ),
    (
        "[Common|Frequent] [misunderstandings|errors]: that [silence|no answer] means [yes|consent], that "
        "[weekends|holidays] [do not|never] count, and that [someone|facilities] [else|surely] [does|will "
        "do] it."
    ),
    (
        "[Historical|Background] note: the [custom|practice] [began|started] in {year}, when {person} had "
        "[only|just] [one|a single] [key|shelf|printer] and [twice|far] too many [guests|parcels]."
    ),
    (
        "[Training|Help] is [offered|given] [informally|on request]; [drop by|ring|write], and [bring|have] "
        "the [screen|crate|form] that [causes|makes] [trouble|problems]."
    ),
    (
        "[Do not|Never] [forward|print|photograph] the [list|code|plan] [outside|beyond] the house, "
        "[however|no matter how] [nice|urgent] the [caller|request] [sounds|is]."
    ),
    (
        "[Signs|Marks] of [wear|misuse] on [shared|common] things [should|may] be [reported|told] without "
        "[fear|delay]; [nobody|no one] [asks|looks] for [culprits|excuses]."
    ),
    (
        "The [pilot|trial] group [wants|wishes] to [thank|mention] {other_person}, [without|but for] whom "
        "the {term} [boxes|sheets] would still [be|stand] in the [cellar|corridor]."
    ),
    (
        "[Further|More] [information|news] [follows|comes] when {project} has [cleared|left|released] the "
        "[room|calendar|budget line], [probably|perhaps] in {month}."
    ),
    (
        "[Kindly|Please] [note|observe] that [quoting|copying] this [memo|page] to [partners|press] is "
        "[not|never] [intended|meant], [harmless|dull] as it [is|looks]."
    ),
    (
        "[Opinions|Views] [differ|vary], and a [group|handful] around {person} [argued|pleaded] for "
        "[more|less] [detail|control]; their [note|paper] is [filed|kept] as {code}."
    ),
    (
        "The [timing|moment] was chosen with [care|regret|hesitation]: after [stocktaking|the fair], before "
        "the [holidays|audit], and [outside|clear of] the [usual|worst] [rush|peaks]."
    ),
    (
        "[Local|Regional] [customs|laws] [may|can] [require|ask for] [more|other] [steps|papers]; "
        "[offices|towns] [abroad|further away] [check|ask] before they [print|translate] this."
    ),
    (
        "[Wherever|If] the [word|label] {term} [still|yet] [appears|hangs], [cover|replace] it with the "
        "[enclosed|new] [strip|tag], and [keep|save] the old one for [nobody|no one]."
    ),
    (
        "A [checklist|flow chart|drawing] [would|might] have been [nicer|shorter], [admits|says] the "
        "[author|writer], and is [being|slowly] [drawn|made] by [an apprentice|a volunteer]."
    ),
    (
        "[Volunteers|Helpers] for the [count|move|cleanup] [sign|put their names] on the [list|sheet] near "
        "the [canteen|lift], and are [fed|thanked] [afterwards|properly]."
    ),
    (
        "[This|The present] [memo|note] [expires|ends] when the [handbook|portal] has [caught up|been "
        "updated]; [do not|never] [frame|laminate] it, as [happened|once happened] in {year}."
    ),
    (
        "[Reactions|Answers] to the [first|earlier] [note|draft] [ranged|went] from [relief|praise] to "
        "[irony|a poem], [many|some] of them [useful|printable], and [shaped|changed] this [version|text]."
    ),
    (
        "[Small|Little] [rewards|thanks] such as [cake|a free lunch|a plant] [await|go to] the "
        "[tidiest|fastest|most honest] [corner|shelf|team], [judged|chosen] by {other_person}."
    ),
    (
        "[Summing|To sum] up: [look|check] before you [send|stack|delete], [ask|call] when in [doubt|a "
        "hurry], and [leave|keep] things as you would [like|wish] to [find|meet] them."
    ),
    (
        "[Equipment|Material] on [loan|trial] from {vendor} is [exempt|left out] for [now|the moment], "
        "[since|because] [other|special] [papers|labels] [go|travel] with it."
    ),
    (
        "[Regards|Greetings] from the [corridor|desk|basement] where such [notes|memos] are "
        "[written|brewed], and [please|kindly] [reply|answer] to {person} rather than to [all|everyone]."
    ),
    (
        "[Observations|Findings] by {team} will be [read|discussed] [openly|in detail], [good|bad] news "
        "[included|first], and [no names|no ranking] [attached|given]."
    ),
    (
        "Whether to give {subject} a [proper|longer] [page|chapter] in the handbook is [left|put] to the "
        "[readers|users], whose [votes|mails] [count|are counted] until {month}."
    ),
    (
        "An [apology|excuse|explanation] is [due|owed] to [those|people] who [received|got] this "
        "[twice|late|in the wrong language]; the [lists|addresses] are [being|slowly] [cleaned|merged]."
    ),
    (
        "[Seen|Found] in the [bin|corridor|scanner]: [papers|drawings] with [full|real] names; "
        "[please|kindly] [use|feed] the [locked|grey] [box|shredder], [always|even when late]."
    ),
    (
        "Everything else [stays|remains] as [described|laid down] under {term}, [including|down to] the "
        "[colours|hours|abbreviations] that [nobody|few people] [likes|can explain]."
    ),
    (
        "The [link|file|folder] [mentioned|named] in the [newsletter|last memo] was [broken|empty|locked]; "
        "it [opens|works] [now|again], [thanks|owing] to {person}."
    ),
    (
        "Do not let the [signature|sender|letterhead] [mislead|fool] you: this [text|note] was "
        "[written|shaped] by [several|many] [hands|people], {team} and {other_team} among them."
    ),
)
