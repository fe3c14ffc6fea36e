"""Sentences that stand around the settings of a release."""

from __future__ import annotations

PROSE = (
    (
        "[Installers|Packages|Images] are [signed|sealed|checksummed] with the [same|renewed|company] key as "
        "before, and the [fingerprint|digest|signature] is [printed|listed|published] under {code} on the "
        "[download|support|partner] page."
    ),
    (
        "[Before|Prior to] [upgrading|updating|installing], [export|save|copy] the "
        "[configuration|calibration tables|user list|dashboards], because a [downgrade|step back|rollback] "
        "is [possible only|only possible] from a [backup|snapshot|saved state]."
    ),
    (
        "The [dialog|wizard|screen] for [adding a probe|naming a channel|importing a curve|changing the "
        "unit] was [redrawn|simplified|rebuilt] after [complaints|interviews|visits] in {month}."
    ),
    (
        "A [defect|fault|bug] that [swapped|mixed up|lost|duplicated] [channel names|axis labels|time "
        "stamps|comments] after a [restart|power cut|language change|daylight-saving switch] has been "
        "[repaired|removed|corrected], see {code}."
    ),
    (
        "[Charts|Curves|Histograms|Tables] now [redraw|refresh|scroll] [smoothly|without flicker|at once] on "
        "[older|slow|small] [tablets|panels|workstations], thanks to [work|patience|measurements] by {team}."
    ),
    (
        "The [help|manual|tutorial] has been [rewritten|translated|reordered], with [new|better|larger] "
        "[pictures|examples|exercises] for the [chapter|section|pages] about {term}."
    ),
    (
        "[Support|Maintenance|Spare stock] for the [serial|parallel|infrared|legacy] [bus|adapter|dongle] "
        "ends [with the next generation|after a grace period]; [owners|users|sites] will [be "
        "contacted|receive a letter|see a notice]."
    ),
    (
        "[Keyboard shortcuts|Screen readers|High-contrast themes|Larger fonts] [work|are available] in "
        "[all|most|more] [dialogs|views|windows], a [wish|request] that {customer} had "
        "[raised|repeated|voted for]."
    ),
    (
        "The [importer|parser|converter] [accepts|understands|reads] [files|records|logs] with "
        "[semicolons|tabs|trailing blanks|foreign decimal commas] and [names|reports|marks] the "
        "[line|row|column] that it [cannot read|rejects]."
    ),
    (
        "A [known|remaining|rare] [problem|limitation|weakness] is that [printing|zooming|undo|drag and "
        "drop] [fails|stalls|misbehaves] when [two|several] [monitors|sessions|users] are [active|connected] "
        "at once."
    ),
    (
        "[Thanks|Our thanks] [go|are due] to {person}, who [traced|reproduced|narrowed down] the "
        "[elusive|old|stubborn] [crash|leak|deadlock] behind {code} on [a train|a rainy weekend|a borrowed "
        "laptop]."
    ),
    (
        "The [colours|icons|symbols] of [alarms|limits|states] [follow|obey] the {term} convention, so that "
        "[red|amber|blue] [means|signals] the same [thing|state] in [every|each] [tool|panel|report]."
    ),
    (
        "[Translations|Captions|Messages] in [Finnish|Polish|Portuguese|Czech|Danish] were "
        "[completed|checked|polished] by [native speakers|volunteers|{team}], and [odd|stray|literal] "
        "[phrases|words] were [removed|replaced]."
    ),
    (
        "The [exporter|report builder|print module] [writes|produces|emits] [cleaner|smaller|standard] "
        "[documents|files|sheets], which [open|display] [properly|without warnings] in [common|free|older] "
        "[viewers|spreadsheets|browsers]."
    ),
    (
        "The [database|schema|storage] [migration|conversion|upgrade] runs [in the background|once|at first "
        "start] and can be [followed|watched|paused] on the [status|maintenance|service] page."
    ),
    (
        "Two [functions|menus|commands] that [nobody|hardly anyone] [used|opened|missed] in the "
        "[survey|telemetry|interviews] of {year} have been [removed|hidden|retired], together with their "
        "[help|test] pages."
    ),
    (
        "[Beta|Pilot|Early] [testers|users|sites] [reported|described|noticed] [fewer|no] "
        "[freezes|surprises|stoppages], but [asked|wished] for [clearer|shorter|calmer] "
        "[messages|names|warnings]."
    ),
    (
        "The [scheduler|planner|task list] [respects|observes|knows] [public holidays|shift plans|quiet "
        "hours], and [skips|postpones|merges] [jobs|runs|checks] [accordingly|as one would expect]."
    ),
    (
        "[Logs|Journals|Records] no longer [contain|show|reveal] [names|addresses|tokens] of "
        "[operators|patients|visitors], in [line|accordance|keeping] with the {term} recommendation."
    ),
    (
        "{subject} now [explains|shows|says] in [plain|ordinary] words why a "
        "[reading|calibration|login|transfer] was [refused|rejected|discarded], instead of "
        "[printing|showing] a [bare|cryptic] [code|number]."
    ),
    (
        "[Time zones|Leap seconds|Regional formats|Unit prefixes] are [handled|stored|shown] "
        "[consistently|in one place], which [cures|ends|resolves] [three|several|a family of] [old|related] "
        "[reports|tickets|complaints]."
    ),
    (
        "The [plug-in|script|macro] interface is [unchanged|stable|frozen]; [extensions|add-ons|scripts] "
        "written for the [previous|last|former] [release|edition] [load|run|work] [as before|without edits]."
    ),
    (
        "[Internal|Housekeeping|Invisible] changes of this round: [dependencies|compilers|build images|test "
        "rigs] were [renewed|updated|replaced], and [dead|unused|forgotten] [code|files|branches] "
        "[left|went|disappeared]."
    ),
    (
        "[Users|Sites|Operators] behind a [strict|corporate|hospital] [proxy|gateway|firewall] should "
        "[read|consult] the {term} leaflet before [enabling|switching on|trying] [remote|cloud|mobile] "
        "[access|display|alerts]."
    ),
    (
        "The [sample|demo|training] data [contain|include|show] a [noisy|drifting|clipped|perfect] "
        "[signal|series|run] on which [students|newcomers|trainers] can [practise|try] the [new|revised] "
        "[filters|views|limits]."
    ),
    (
        "[Performance|Stability|Robustness] under [load|vibration|poor networks] was "
        "[measured|examined|tested] on the {term} rig, and the [results|graphs|findings] are "
        "[attached|archived|summarised] under {code}."
    ),
    (
        "A [warning|hint|reminder] [appears|pops up|is shown] when [certificates|sensors|licences|batteries] "
        "[approach|near] the end of their [life|validity], [early|soon] enough to [react|order|plan]."
    ),
    (
        "[Roles|Rights|Permissions] can be [copied|inherited|compared] between [users|groups|sites], which "
        "[saves|spares] [administrators|supervisors] [many|tedious|countless] [clicks|evenings|mistakes]."
    ),
    (
        "The [installer|setup|updater] [detects|notices|finds] [leftovers|remains|parts] of "
        "[earlier|trial|foreign] [versions|drivers|tools] and [offers|suggests] to [clean up|remove "
        "them|keep them]."
    ),
    (
        "[Rounding|Averaging|Interpolation|Unit conversion] follows the [rules|method|example] of {term}, "
        "and the [last|final] digit may [differ|deviate] from [earlier|older] [reports|printouts]."
    ),
    (
        "{person} [recommends|advises] [trying|testing] the [release|update] on a "
        "[spare|second|non-critical] [machine|station|panel] [first|for a while], as [always|usual]."
    ),
    (
        "[Sound|Tone|Buzzer] [signals|alerts] can be [muted|softened|changed] per [shift|room|user], after "
        "[laboratories|wards|neighbours] [complained|asked] about [nightly|constant] [beeping|noise]."
    ),
    (
        "The [tutorial|quick tour|welcome page] [greets|meets] [new|returning] users with [three|a few|some] "
        "[steps|cards|hints] and can be [skipped|closed|recalled] at [any|some later] time."
    ),
    (
        "[Scripts|Jobs|Macros] that [parse|read|scrape] the [screen|printout|old log] will [break|need "
        "care|have to be adapted], since [labels|columns|captions] have [moved|changed|been renamed]."
    ),
    (
        "[Security|Hardening] work [closed|removed|fixed] a [weakness|gap|hole] in the "
        "[login|upload|pairing] [page|dialog|code], [reported|found] by an [outside|independent|anonymous] "
        "[researcher|tester]."
    ),
    (
        "The [mobile|tablet|watch] [app|view|client] [keeps|holds] its [place|position|filters] when the "
        "[signal|network|screen] [drops|fades|turns], which {customer} had [missed|wanted|requested]."
    ),
    (
        "[Memory|Processor|Battery] use while [idle|minimised|asleep] is [lower|down|reduced], as a [side "
        "effect|by-product|result] of [rewriting|untangling|replacing] the {term} module."
    ),
    (
        "[Open-source|Free|Borrowed] [components|libraries|parts] and their [notices|licences|authors] are "
        "[listed|credited|named] in the [about box|manual|{term} file], as [required|agreed|promised]."
    ),
    (
        "The [order|sequence|grouping] of [menu items|settings|tabs] [mirrors|follows] the "
        "[daily|usual|natural] [work|round|routine] of an [operator|inspector|analyst], "
        "[observed|studied|filmed] in {year}."
    ),
    (
        "[Feedback|Praise|Criticism] [may|can] be [sent|given|left] [directly|straight] from the "
        "[window|menu|toolbar]; [it|every note] is [read|sorted|answered] by a [person|human|colleague], not "
        "a [robot|script]."
    ),
    (
        "[Rarely|In rare cases|On some machines], the [first|initial] [start|launch|scan] after the "
        "[update|upgrade] [takes|needs] [longer|a while], because [indexes|thumbnails|tables] are "
        "[rebuilt|recreated]."
    ),
    (
        "[Certificates|Approvals|Declarations] for [medical|marine|mining|rail] use [cover|include] this "
        "[build|edition] and are [filed|stored|available] under {code} with [the authority|{team}]."
    ),
    (
        "The [simulator|emulator|virtual probe] [behaves|acts|responds] more like [real|physical] "
        "[hardware|sensors|instruments], down to the [warm-up|drift|noise] that [trainers|testers] "
        "[love|dread|need]."
    ),
    (
        "[Nothing|No setting|No table] is [changed|overwritten|deleted] without [asking|a prompt|consent], a "
        "[principle|promise] that the [team|developers|authors] [keep|repeat] in [every|each] [release|note]."
    ),
    (
        "[Release|Publication|Delivery] was [moved|shifted|postponed] in {month} because a "
        "[late|last-minute] [finding|test|review] [concerned|touched] the {term} [driver|table|menu]."
    ),
    (
        "[Duplicate|Broken|Empty] [entries|lines|links] in the [device|contact|report] list are "
        "[merged|removed|flagged] [automatically|on request|overnight], with an [undo|overview|explanation]."
    ),
)
