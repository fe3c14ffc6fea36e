"""Sentences of threads of mail: greetings, quotations, objections and answers."""

from __future__ import annotations

PROSE = (
    (
        "[Hello|Hi|Good morning|Dear] {person}, [thanks|thank you] for the [quick|kind|long] [reply|mail]; I "
        "have [read|forwarded|printed] it and [still|now] have a [question|doubt|worry] about {term}."
    ),
    (
        "[Sorry|Apologies] for the [late|slow|short] [answer|reply], I was [travelling|ill|in the lab|at a "
        "fair] and [only|just] [saw|found] your [mail|message] [now|on the train]."
    ),
    (
        "You wrote that the {term} [part|list|sample] is [fine|ready|missing]; [here|on my side] it "
        "[looks|seems] [different|older|broken], see the [photo|scan] under {code}."
    ),
    (
        "[With respect|To be honest|Frankly], I [disagree|see it differently]: the [last|earlier] "
        "[attempt|version|batch] [failed|came back] for [exactly|precisely] this [reason|kind of shortcut]."
    ),
    (
        "[Adding|Copying] {other_person}, who [knows|remembers] the [history|background] of this "
        "[better|longer] than I do and may [correct|contradict] [me|us both]."
    ),
    (
        "[Could|Would] you [please|kindly] [send|resend|share] the [file|drawing|table] once more, [this "
        "time|perhaps] without the [password|macros|watermark], since {team} cannot [open|read] it?"
    ),
    (
        "No [objection|worries] from my [side|end], as long as {team} has [seen|tested] it and [nobody|no "
        "customer] is [promised|told] anything [yet|before {month}]."
    ),
    (
        "[Quick|Short|Small] [update|news]: the [parcel|sample|cable] has [arrived|left|been found], the "
        "[box|label] is [damaged|wet|wrong], the [content|part] [seems|looks] [fine|usable]."
    ),
    (
        "[Just|Only] to be [sure|clear]: are we [talking|writing] about the {term} or the {other_term}? The "
        "[names|words] are [used|mixed] [freely|both ways] in this thread."
    ),
    (
        "I [spoke|talked] to {person} at the [coffee machine|gate|canteen], who [shrugged|laughed|sighed] "
        "and said that [such|these] [things|cases] [solve|settle] themselves [by Friday|in time]."
    ),
    (
        "[On|Regarding] {subject}: my [diary|memory|mailbox] says something [else|different], so before we "
        "[blame|bother] {vendor}, let us [compare|check] [dates|versions]."
    ),
    (
        "[Please|Kindly] [keep|leave] {customer} out of this [thread|exchange] for [now|the moment]; the "
        "[tone|draft] is not [meant|fit] for [outside|their] eyes."
    ),
    (
        "[Great|Good|Nice] [work|catch|photos]! [One|A tiny] [remark|thing]: the [scale|caption|arrow] in "
        "the [second|last] [picture|sheet] [points|refers] to the wrong [side|pin|edge]."
    ),
    (
        "I would [rather|prefer to] [wait|test|ask] [first|once more], even if that [annoys|delays] "
        "{other_team}; a [second|repeated] [mistake|recall|apology] [costs|hurts] more than a [day|pause]."
    ),
    (
        "[See|Find] [attached|below] the [log|list|sketch] that {person} [made|saved] before the "
        "[restart|move]; the [odd|strange] [lines|marks] are [highlighted|circled] in [yellow|red]."
    ),
    (
        "[Can|May] I remind [everyone|you all|the slow ones] that the [form|poll|sheet] is [open|waiting], "
        "[half|some] of us have [not answered|forgotten], and {month} is [near|round the corner]?"
    ),
    (
        "[Your|The] [objection|point] is [fair|valid|noted], but the [same|identical] [setup|part|text] "
        "[works|has worked] in {office} [without|with no] [complaint|trouble] since {year}."
    ),
    (
        "[Moving|Shifting] this to a new [thread|mail], as the [old|other] one [grew|became] [long|mixed] "
        "and nobody [scrolls|reads] [down|that far]."
    ),
    (
        "[Forwarding|Passing on] the [mail|question] from {customer}, [shortened|without greetings]; "
        "[who|which of you] [can|could] [draft|write] a [polite|clear] [answer|reply] by [noon|tomorrow]?"
    ),
    (
        "[Hm|Well|Hm, not sure], the [wording|sentence] [sounds|reads] like a [promise|threat|translation]; "
        "[how|what] about a [plainer|softer] one, along the lines of {code}?"
    ),
    (
        "[Nothing|Not much] to [add|report] from {team}, [except|apart from] the [usual|old] [plea|wish]: "
        "[name|number] your [files|samples] so that [strangers|others] can [find them again|tell them apart]."
    ),
    (
        "I have [tried|tested] both [ways|cables|settings] on {product} [twice|again], with the "
        "[same|identical] [result|odd noise], and am [running|slowly running] out of [ideas|patience]."
    ),
    (
        "[Thanks|Cheers], {person}, that [solved|explained] it! The [plug|filter|column] was [upside "
        "down|swapped|hidden], [embarrassing|simple] as that [is|sounds]."
    ),
    (
        "[Before|Until] we [spend|waste] [more|another] [evening|mail] on it, has [anyone|someone] asked "
        "{vendor} whether the {term} was [changed|left out] on [purpose|their side]?"
    ),
    (
        "[Please|Kindly] [ignore|delete] my [last|previous] mail, I was looking at the [wrong|old] "
        "[tab|folder|device]; the [figures|photos] from {person} are [right|correct]."
    ),
    (
        "Let us [meet|talk] [briefly|for a moment] [instead|by phone], [mails|threads] like this one "
        "[breed|cause] [misunderstandings|grey hair], and {other_person} [hates|dreads] them."
    ),
    (
        "[As|Like] I [said|wrote] in {month}, the [idea|plan] is [fine|good] on [paper|slides], and "
        "[falls|comes] apart when [somebody|a trainee] [tries|does] it with [cold|wet] [hands|gloves]."
    ),
    (
        "[Who|Which of you] has the [key|original|long] [version|cable|list] of the {term}? It was [on my "
        "desk|in the tray] [last week|before the move], and is [gone|missing]."
    ),
    (
        "You [quoted|cited] {code} as [proof|a source]; that [page|note] was [replaced|corrected] "
        "[later|long ago], and now [says|states] [almost|nearly] the [opposite|reverse]."
    ),
    (
        "[Happy|Glad] to [help|join|look], but my [calendar|week] is [full|a mess]; [ask|try] {other_person} "
        "or [leave|put] it on my [chair|desk] with a [note|sticker]."
    ),
    (
        "[Agreed|Fine], [let|so let] us [do|try] it your way, [write|note] down what [happens|we see], and "
        "[return|go back] to the [old|usual] one if {team} [complains|protests]."
    ),
    (
        "[Attention|Careful]: the [draft|list] that is [going|passed] around [contains|has] [real|private] "
        "names; [please|kindly] [delete|return] it and [use|take] the one in the {term} folder."
    ),
    (
        "[My|The] [guess|hunch] is [humidity|a loose screw|a rounding error|an old driver], [but|though] "
        "{person} [bets|swears] on [dust|the cable|human error], so [dinner|cake] is at [stake|risk]."
    ),
    (
        "[Dear|Hello] all, [could|can] we [stop|avoid] replying to [everyone|the whole list]? [Half|Most] of "
        "us have [nothing|little] to do with {subject}."
    ),
    (
        "The [reply|answer] from {vendor} [came|arrived] [overnight|today]; in [short|a nutshell]: they are "
        "[sorry|surprised], [need|want] [photos|a sample], and [suggest|propose] a [call|swap]."
    ),
    (
        "[I|We] [cannot|could not] [reproduce|see] that [here|at all]; [which|what] "
        "[browser|probe|language|cable] did you [use|have], and was the {term} [switched|turned] on?"
    ),
    (
        "[Interesting|Strange|Curious], [since|because] {other_team} [reported|saw] the [same|very same "
        "thing] in {year}, [closed|dropped] it as [harmless|noise], and [never|not once] [looked|went] back."
    ),
    (
        "[Pinging|Poking] this [thread|mail] [again|gently], [as|since] the [courier|printer|auditor] "
        "[comes|calls] [soon|tomorrow] and the [crucial|open] [line|box] is [still|yet] [empty|unsigned]."
    ),
    (
        "[Fair|Good] [enough|point], though I [fear|suspect] that {customer} will [read|take] "
        "[temporary|soon|mostly] as [never|tomorrow|a promise], depending on the [mood|weather]."
    ),
    (
        "[To|For] [summarise|those joining late]: a [sample|crate|mail] was [mislabelled|lost|opened], "
        "[nobody|no harm] was [hurt|done], and [three|several] [theories|people] are [in play|involved]."
    ),
    (
        "Between us, the [new|grey] [tool|form|template] [is|was] [worse|slower] than the "
        "[spreadsheet|notebook], and saying so [once|aloud] would [help|relieve] [many|me]."
    ),
    (
        "[Can|Could] {team} [confirm|check] that [nothing|no job] [depends|hangs] on the old {term} "
        "[folder|share|script], before I [delete|move|rename] it?"
    ),
    (
        "[Please|Kindly] do not [ship|print|announce] [anything|it] until [both|all] of us have "
        "[nodded|answered]; [last|the previous] time [haste|optimism] [cost|earned] us a [reprint|frosty "
        "call]."
    ),
    (
        "[Thank you|Thanks] for [raising|asking] this [openly|early]; I [felt|thought] the same in the "
        "[meeting|call], and [did not|failed to] say so."
    ),
    (
        "The [photo|film] [shows|makes] it [clear|plain]: the [bracket|seal|screw] is [bent|missing|upside "
        "down], hence the [rattle|gap], and no [software|setting] will [cure|fix] that."
    ),
    (
        "[Would|Could] it [help|hurt] to [ask|invite] {person}? [Some|A few] of us [remember|recall] a "
        "[similar|near identical] [puzzle|quarrel] around {project}, [solved|ended] with [tape|patience]."
    ),
    (
        "[On|After] [reflection|second thoughts], I [withdraw|take back] my [objection|veto]; the "
        "[numbers|samples] from {other_person} [convinced|calmed] me, though the [font|smell] did not."
    ),
    (
        "[Out|I am out] of [office|reach] until [the weekend|further notice], [reading|seeing] mail "
        "[rarely|at night]; in [urgent|burning] [cases|matters] [write|turn] to {other_person}."
    ),
    (
        "[Re-reading|Looking at] the [thread|chain], [nobody|none of us] [answered|noticed] the "
        "[first|actual] question: [may|can] the {term} be [opened|washed|shared] or must it [stay|remain] "
        "sealed?"
    ),
    (
        "[Good|Bad] news from the [lab|warehouse|hall]: the [missing|second] [piece|set] [turned|showed] up "
        "[behind|under] the [shelf|forklift], [dusty|intact], with a [note|tag] from {year}."
    ),
    (
        "If [silence|no answer] means [yes|agreement], I will [proceed|go ahead] on [Monday|Thursday]; if it "
        "[means|is] [holiday|rage], [someone|please] [tell|warn] me."
    ),
    (
        "[I|We] [owe|promised] {customer} a [word|sign] today, so [please|kindly] [send|give] me [one|a "
        "single] [sentence|line] that is [true|safe] and [kind|short]."
    ),
    (
        "The [table|sheet] you [sent|pasted] [lost|drops] its [commas|headers|zeros] on the [way|phone]; "
        "[could|can] you [attach|upload] it to {code} [instead|as a file]?"
    ),
    (
        "[Cc|Copy to] {team}, [for|purely for] [information|the archive]; no [action|answer] "
        "[needed|expected], [unless|except if] the {term} [drawing|text] [rings|sounds] a bell."
    ),
    (
        "Let me [play|be] the [sceptic|devil's advocate]: [who|which team] [uses|reads] this [afterwards|at "
        "all], and would [they|anyone] [miss|notice] it if we [skipped|stopped] it?"
    ),
    (
        "[Best|Kind|Warm] [regards|wishes], and [please|do] [say|pass] [hello|thanks] to {other_person}, "
        "whose [hint|drawing|old mail] [saved|spared] us a [trip|weekend|fortune]."
    ),
    (
        "[Done|Fixed|Sent]. If [anything|something] [else|more] [turns|comes] up, [reply|write] here and not "
        "in the [chat|ticket], where [things|answers] [vanish|scroll away]."
    ),
    (
        "[Ouch|Oh dear], that [label|letter|picture] [went|was sent] to the [whole|wrong] list; {person} is "
        "[already|kindly] [calling|writing to] the [worst|first] [cases|addresses], with thanks."
    ),
    (
        "[Is|Was] there a [reason|story] why the {term} [step|box|line] is [done|filled] [twice|by hand]? "
        "[New|Fresh] [eyes|people] keep [asking|tripping over it], and I [have|know] no [answer|excuse]."
    ),
    (
        "[Closing|Ending] the [thread|matter] [here|for now]: [lesson|moral] [learned|noted], [cake|beer] "
        "[owed|due] to {person}, and the [remaining|open] [bit|crumb] [lives|moves] on under {code}."
    ),
    (
        "[Seconded|Same here], with one [reservation|footnote]: the [people|colleagues] in {office} "
        "[should|must] [hear|learn] it from [us|a person] before they [read|find] it in the [portal|minutes]."
    ),
)
