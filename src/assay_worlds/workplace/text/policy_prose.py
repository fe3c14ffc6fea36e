"""Sentences that stand around the rules of a policy."""

from __future__ import annotations

PROSE = (
    (
        "This [page|sheet|text|document|chapter] [replaces|supersedes|takes the place of] an earlier "
        "[note|circular|bulletin|leaflet], which [remains|is kept] on the [archive shelf|intranet|old "
        "drive|file server] under {code} for [reference|comparison|audit]."
    ),
    (
        "The [aim|purpose|point|intention] of these rules is that [colleagues|employees|people|staff] in "
        "different [buildings|towns|departments|countries] are [treated alike|handled evenly|met with the "
        "same answer]."
    ),
    (
        "[Questions|Doubts|Objections|Remarks] about the wording go to {person}, who "
        "[collects|gathers|notes] them until the next [revision|review|reading|round] in {month}."
    ),
    (
        "Where [local|national|municipal|regional] law is [stricter|more generous|more detailed] than this "
        "[text|page|document], the law [prevails|goes first|wins] and the [difference|deviation|conflict] is "
        "[reported|noted|recorded] in the {term} register."
    ),
    (
        "[Contractors|Interns|Agency workers|Visiting researchers|Apprentices] are covered by this page only "
        "where their [agreement|engagement letter|placement contract|assignment] [says so|refers to "
        "it|mentions the {term} clause]."
    ),
    (
        "The [works council|staff association|employee forum|delegates' meeting] was "
        "[heard|consulted|informed] in {month} and [asked for|suggested|requested] "
        "[plainer|shorter|gentler|clearer] wording in the [second|third|closing|opening] paragraph."
    ),
    (
        "[Exceptions|Special cases|Deviations|Hardship cases] are [written down|documented|described] with a "
        "[reason|short justification|date|case number] and [discussed|looked at again|reopened] every "
        "[spring|autumn|quarter|year]."
    ),
    (
        "[Receipts|Invoices|Tickets|Booking slips|Statements] are [scanned|photographed|uploaded] in "
        "[colour|full|readable quality], [named|labelled|tagged] with {code}, and the [paper|original|slip] "
        "may then be [discarded|returned|stapled to the file]."
    ),
    (
        "The [wording|text|draft] [borrows|takes over] the [definitions|terms|vocabulary] of the {term} "
        "guideline, so that [auditors|readers|newcomers|translators] do not [stumble over|meet|have to "
        "learn] two sets of [words|names|meanings]."
    ),
    (
        "[Misuse|Abuse|Fraud|Deceit|Carelessness] leads to a [conversation|talk|hearing] with the [line "
        "manager|personnel office|department head] and, if [repeated|serious|proven], to [a warning|further "
        "steps|a formal letter]."
    ),
    (
        "A [translation|summary|large-print copy|spoken version] [is available|can be ordered|lies ready] at "
        "the [reception|library|front desk|print room]; the [English|original|signed] text "
        "[decides|counts|is binding] in case of [doubt|conflict|differences]."
    ),
    (
        "{team} [commented|remarked|pointed out] during the [consultation|hearing|review round] that the "
        "former [paragraph|table|list|annex] on {term} had been [read|understood|applied] in "
        "[two|several|contradictory] ways."
    ),
    (
        "The [forms|templates|sheets|checklists] mentioned here are [kept|stored|found] on the "
        "[intranet|shared drive|staff portal|notice board] beside the [floor plans|canteen menu|shuttle "
        "timetable|{term} tables]."
    ),
    (
        "[Nothing|No sentence|No part] in this [document|policy|text] [limits|takes away|touches] the "
        "[right|freedom|possibility] of [employees|colleagues|staff] to [raise concerns|contact the "
        "ombudsperson|consult their delegates] [in confidence|at any time]."
    ),
    (
        "The [examples|cases|illustrations] in the [annex|margin|grey boxes|last section] are "
        "[invented|simplified|taken from practice], and [names|places|figures] in them [refer to|stand "
        "for|mean] nobody [in particular|real|at this company]."
    ),
    (
        "During the [pilot|trial|test phase|first months] in {office}, [most|a few|many] "
        "[complaints|questions|calls] were about [missing attachments|unclear dates|illegible copies|wrong "
        "cost codes|the {term} field]."
    ),
    (
        "[Managers|Supervisors|Group leads|Heads of department] are [expected|asked|encouraged] to "
        "[explain|go through|introduce] this page at a [team meeting|morning round|staff gathering] in "
        "{month}."
    ),
    (
        "[Personal data|Medical details|Family circumstances|Bank details] that [turn up|are "
        "mentioned|appear] in a request are [blacked out|removed|kept apart] before the file is "
        "[shared|passed on|copied] to {team}."
    ),
    (
        "An [electronic|online|automated] form has [replaced|followed] the [yellow|blue|green|carbon-copy] "
        "paper slip, although {person} still [accepts|takes|processes] paper from [workshops|the "
        "warehouse|travelling fitters] without [network access|a terminal]."
    ),
    (
        "What counts as [reasonable|usual|appropriate|modest] [depends on|varies with|follows from] the "
        "[place|season|occasion|purpose], and the [reader|applicant|traveller] is [trusted|asked] to [use "
        "judgement|think of colleagues|stay sensible]."
    ),
    (
        "The [chapter|section|paragraph] on {term} was [moved|shifted|transferred] to the {other_term} "
        "handbook in {year} because [hardly anyone|only engineers|few readers] [looked|searched] for it here."
    ),
    (
        "[Double|Parallel|Overlapping] claims under [two|several|neighbouring] policies are [not "
        "possible|excluded|ruled out]; the [applicant|employee|colleague] [chooses|names] the one that "
        "[fits|suits|applies] [best|first]."
    ),
    (
        "[Minor|Editorial|Small] [corrections|changes|repairs] are made [without|with no] "
        "[announcement|notice|fuss], while [changes in substance|new duties|cuts] are "
        "[published|announced|read out] in the {month} [newsletter|bulletin|assembly]."
    ),
    (
        "The [internal audit|controlling department|review group|quality office] [samples|inspects|looks "
        "into] a handful of [files|cases|claims] each [season|year|half-year] and [reports|describes] "
        "[patterns|findings|oddities], never [names|individuals|single persons]."
    ),
    (
        "[Please|Kindly] [read|study|consult] the [whole|entire] page before [filing|sending|submitting] "
        "anything, since the [conditions|definitions|exceptions] near the end [matter|decide|change a lot] "
        "[in practice|for part-timers|for shift workers]."
    ),
    (
        "A [colleague|fitter|technician|clerk] who [falls ill|is called back|changes departments|goes "
        "part-time] meanwhile [keeps|does not lose|retains] what has already been "
        "[confirmed|promised|booked] in [writing|the portal]."
    ),
    (
        "[Fairness|Thrift|Safety|Trust|Simplicity] [comes first|is the guiding idea|leads the way] in this "
        "text, and [comfort|speed|habit|custom] [comes second|takes a back seat|has to wait]."
    ),
    (
        "The [paragraph|remark|footnote] about [pets|spouses|side jobs|private vehicles|hand luggage] was "
        "[contested|debated|disputed] and is [kept|left in] until {other_team} has "
        "[finished|delivered|published] its [survey|opinion|study]."
    ),
    (
        "[Invoices|Bills|Letters] made out to a [private|home] address are [returned|sent back|refused] by "
        "the [accounts|finance|bookkeeping] desk with a [standard letter|yellow sticker|reference to {code}]."
    ),
    (
        "[Records|Notes|Protocols] of [oral|telephone|informal] agreements are [worthless|of little use|not "
        "accepted] unless [somebody|both sides|a witness] put them [down in writing|on paper] the same "
        "[day|week]."
    ),
    (
        "[Shift|Weekend|Field|Laboratory] staff asked whether this page [applies|extends] to them; it "
        "[does|applies], with the [reservations|limits|adjustments] of the {term} agreement."
    ),
    (
        "The [graph|chart|diagram] in the annex [shows|illustrates|sketches] the [path|route|journey] of a "
        "request from the [first click|letter box|applicant] to the [archive|pay slip|final answer]."
    ),
    (
        "Since the [merger|move|reorganisation|new contract] in {year}, [departments|groups|units] no longer "
        "[print|issue|write] their own [versions|rules|leaflets] on this [subject|matter|topic]."
    ),
    (
        "People who [read|know|remember] the [old|former|previous] text will [notice|find|see] that the "
        "[word|expression|heading] {term} has been [dropped|replaced|given up] in favour of {other_term}."
    ),
    (
        "[Applications|Requests|Forms] that lack a [signature|cost code|date|project name] are [parked|set "
        "aside|returned] and the [sender|applicant|author] gets [a reminder|a message|an automatic mail]."
    ),
    (
        "The [spirit|sense|idea] of {subject} is [easily|quickly|best] [explained|summed up|put] by an "
        "[example|anecdote|ordinary day]: {person} asks, {other_person} [answers|replies], and nobody "
        "[needs|asks for] a [handbook|lawyer|dictionary]."
    ),
    (
        "[Sustainability|Accessibility|Equal treatment|Data protection] was [weighed|considered|discussed] "
        "in drafting, as the [checklist|assessment|protocol] filed under {code} [shows|proves|documents] in "
        "[some|tedious|welcome] detail."
    ),
    (
        "[Unions|Delegates|Employers|Insurers] in some [countries|regions|towns] have [their "
        "own|additional|older] [agreements|arrangements|customs], which are [listed|linked|summarised] on "
        "the {term} page of the [intranet|portal]."
    ),
    (
        "The [helpline|mailbox|service desk|chat channel] answers [general|simple|everyday] questions; "
        "[tricky|unusual|delicate] ones are [passed|handed|forwarded] to {person} with a "
        "[short|written|factual] [summary|outline]."
    ),
    (
        "Whoever [drafts|prepares|proposes] the next edition on {subject} should [talk to|interview|visit] "
        "[field engineers|assembly staff|the night shift|the reception] before [changing|touching|rewriting] "
        "[anything|a line|the order]."
    ),
    (
        "[Rumours|Whispers|Jokes|Old e-mails] about a [special|secret|second] rule for {office} are "
        "[unfounded|baseless|wrong]; the same [text|page|wording] [holds|applies] there."
    ),
    (
        "A [short|brief|one-page] [comic|film|quiz|poster] [explaining|about] this policy was "
        "[made|produced|drawn] by apprentices and [hangs|plays|is shown] in the [canteen|lobby|training "
        "room]."
    ),
    (
        "[Words|Verbs|Terms] such as [should|may|must|can] are used [deliberately|with care|on purpose], and "
        "[readers|lawyers|auditors] are [asked|invited] not to [mix|swap|confuse] them."
    ),
    (
        "The [numbering|order|structure] of [sections|headings|paragraphs] follows the "
        "[template|pattern|model] of {term}, which [looks|seems] [odd|stiff|heavy] here but [helps|eases] "
        "[searching|comparison|translation]."
    ),
    (
        "[Complaints|Appeals|Second opinions] are [possible|allowed|welcome] and go to [a person|someone|a "
        "colleague] who [was not|has not been] [involved|part of the case|asked] [before|the first time]."
    ),
    (
        "[Regular|Annual|Yearly] [reviews|readings|checks] of this page have been "
        "[postponed|skipped|shortened] [once|twice] owing to [illness|the office move|the {project} rush|a "
        "system change]."
    ),
    (
        "[Temporary|Interim|Emergency] measures taken during the [flood|strike|heatwave|power cut] of {year} "
        "have [ended|expired|been lifted] and are [mentioned|listed] here for [completeness|the record] only."
    ),
    (
        "{person} and {other_person} [proofread|went through|compared] the [draft|text|edition] [line by "
        "line|aloud|against the old one] and [corrected|smoothed|untangled] what was [unclear|clumsy|wrong]."
    ),
)
