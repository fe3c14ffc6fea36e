"""What pages on services say besides their facts."""

from __future__ import annotations

PROSE = (
    (
        "{subject} [was split off from|replaced parts of|grew out of|borrowed its queue from] {service} in "
        "{month} {year}, [which explains|hence|whence] the [odd field names|doubled log lines|{term} "
        "tables|empty columns]."
    ),
    (
        "The [nightly|hourly|weekly|manual] [export|sweep|reconciliation|index rebuild|consistency check] "
        "of {subject} [begins|runs|is started] [after the ledger closes|when traffic is low|once backups "
        "are done|by a timer] and writes to the {term} [bucket|share|table]."
    ),
    (
        "[Clients|Callers|Integrations|Scripts] of {subject} [must|should|are asked to] [send a "
        "correlation header|retry with jitter|page through results|cache lookups|quote {code}], and [those|"
        "the ones] that do not are [throttled|logged|named in the digest]."
    ),
    (
        "{team} [consumes|mirrors|polls|listens to] [events|snapshots|summaries|alerts] of {subject} for "
        "[its dashboards|billing checks|the {product} hotline|field planning|archive searches], [read-only|"
        "through a replica|with a short delay|by agreement]."
    ),
    (
        "In {month} {year} a [certificate|schema|dependency|kernel|queue] [change|upgrade|mix-up|rotation] "
        "[broke|slowed|confused|stalled] {subject} for [one tenant|a test group|the label printers|"
        "partners], as told in {code}."
    ),
    (
        "The [source|code|repository|history] of {subject} [contains|hides|preserves|still shows] [a "
        "vendored parser|comments in Italian|the {term} workaround|two dead flags|test data from {year}], "
        "which {person} [wants gone|defends|documented|measured]."
    ),
    (
        "[Load|Soak|Chaos|Restore] tests of {subject} are [rehearsed|repeated|recorded|announced] [before "
        "each fair|every spring|with {other_team}|on a copy], and the last one [found|exposed|blamed|ruled "
        "out] the {term} [cache|socket|thread|index]."
    ),
    (
        "{subject} [encrypts|hashes|redacts|truncates|pseudonymises] [serial numbers|visitor names|free "
        "text|addresses|device notes] [before storage|at the edge|on export|in logs], following [review "
        "{code}|the {term} rule|advice from {person}], and [tests|spot checks|auditors] [confirm|doubt|"
        "watch] it [every quarter|at random|in spring]."
    ),
    (
        "A [dashboard|panel|chart|screen] for {subject} [shows|plots|lists|colours] [queue depth|write "
        "latency|cache misses|stuck jobs|{term} errors], and [hangs|is shown|scrolls] [beside the coffee "
        "machine|in {office}|on the wall of {team}]."
    ),
    (
        "[Old|Retired|Embedded|Offline] [gauges|gateways|tablets|loggers] [reach|call|feed|poll] {subject} "
        "[through a proxy|by a nightly file|over a modem bank|via {service}], a [route|path|detour] that "
        "[nobody|only {person}|{other_team}] [monitors|likes|tests]."
    ),
    (
        "The [interface|schema|message format|error catalogue] of {subject} is [described|versioned|"
        "generated|published] in the {term} [folder|portal|module], where [examples|changes|warnings|test "
        "vectors] are [added|reviewed|translated] by {other_person}."
    ),
    (
        "{subject} [queues|delays|drops|merges|rejects] [duplicate|late|oversized|unsigned|malformed] "
        "[readings|messages|uploads|events] and [counts|tags|stores|reports] them under the {term} [label|"
        "bucket|series] for later [study|repair|deletion]."
    ),
    (
        "[Feature|Kill|Debug|Tenant] switches of {subject} are [kept|listed|reviewed|toggled] in [a flat "
        "file|the {term} console|version control|{service}], [and|where] [stale ones|forgotten ones|"
        "temporary ones] [expire|are pruned|turn red] each [quarter|spring|release]."
    ),
    (
        "The [first|second|third] [draft|prototype|pilot|rewrite] of {subject} was [written|sketched|"
        "demonstrated|abandoned] by {person} during [a train ride|the {project} pilot|a slow summer|a hack "
        "day], in [a spreadsheet|shell scripts|an ageing framework]."
    ),
    (
        "Before [deploying|upgrading|draining|restarting] {subject}, [post a note|ask {other_team}|check "
        "the {term} gauge|pause the importers|take a snapshot], and [wait|watch|confirm] until [replicas "
        "agree|queues are empty|alerts are quiet]."
    ),
    (
        "Tenants such as {customer} [asked for|tested|declined|waited for] [bulk edits|finer roles|signed "
        "exports|local time stamps|a {term} filter] in {subject}, and the [wish|request|idea] is [filed|"
        "parked|tracked] as {code}."
    ),
    (
        "A [memory|descriptor|thread|disk] [leak|spike|shortage|puzzle] in {subject} [busied|puzzled|woke|"
        "occupied] {team} for [days|a fortnight|most of {month}], until {person} [found|bisected|suspected|"
        "removed] the {term} [hook|driver|listener]."
    ),
    (
        "{subject} [shares|pools|splits] its [cluster|database|message bus|certificates|address space] "
        "with {service}, [so|and therefore] [upgrades|freezes|audits|quotas] are [agreed|joint|staggered] "
        "with {other_team}."
    ),
    (
        "The [smoke test|health probe|synthetic check|canary] of {subject} [logs in|books a reading|prints "
        "a label|requests a {term} page] [every few minutes|from two networks|as a fake tenant], and "
        "[clears|deletes|marks] its [traces|rows] afterwards."
    ),
    (
        "[Backups|Snapshots|Dumps|Journals] of {subject} are [checked|restored|sampled|weighed] by [a "
        "robot|{other_person}|students|{team}] [in spring|at random|after upgrades], with [notes|oddities|"
        "timings] [kept|logged|posted] under {code}."
    ),
    (
        "The [naming|numbering|colour|folder] scheme inside {subject} [follows|ignores|predates|mimics] "
        "the {term} [standard|tree|catalogue] of {year}, [to the regret of|by decision of|as a courtesy "
        "to] {other_team}."
    ),
    (
        "{subject} [speaks|understands|tolerates|accepts] [the old binary protocol|gzip bodies|chunked "
        "uploads|local calendars|{term} headers], a [quirk|courtesy|habit] that [integrators|auditors|"
        "testers] [stumble over|rely on|mention] most."
    ),
    (
        "[Alerts|Warnings|Pages|Reports] from {subject} were [retuned|merged|translated|muted] in {month} "
        "{year}, because [{person} counted them|half were noise|the {term} one cried wolf|nobody read "
        "them]."
    ),
    (
        "A [threat model|privacy review|penetration test|dependency scan] of {subject} [dated|signed on|"
        "begun on|finished on] {date} [names|lists|warns of|criticises] [weak defaults|the {term} endpoint|"
        "old ciphers|shared secrets|chatty logs]."
    ),
    (
        "The [web|command-line|mobile|kiosk] client of {subject} [remembers|hides|colours|sorts|prints] "
        "[filters|drafts|archived rows|the {term} column|favourites], [which|a trick that] {customer} "
        "[likes|reported|uses in training]."
    ),
    (
        "When {subject} [falls behind|is read-only|recovers|fails over], [importers|gauges|printers|users] "
        "[wait|buffer|see a banner|are redirected], and {other_team} [tells|calls|reassures] [partners|the "
        "hotline|{customer}]."
    ),
    (
        "{person} [gave|recorded|wrote|repeats] a [tour|deep dive|primer|cheat sheet] of {subject} that "
        "[starts|ends|stops] at the {term} [module|diagram|dispatcher] and [skips|mocks|explains] [billing|"
        "authentication|sharding|time zones]."
    ),
    (
        "[Deprecated|Hidden|Undocumented|Experimental] [endpoints|columns|flags|jobs] of {subject} [remain|"
        "live on|stay] [until {project} ends|behind a proxy|for {customer}|in a branch], [marked|renamed|"
        "listed] with the prefix {term}."
    ),
    (
        "The [cost|traffic|storage|error] report for {subject} [goes|is mailed|is read aloud] to {team} "
        "[each month|at quarter end|on request], [together with|followed by|without] a [note|graph|joke] "
        "on {term} [growth|waste|savings]."
    ),
    (
        "{subject} [validates|rounds|converts|reorders] [units|time stamps|postal codes|serials|"
        "thresholds] [on input|lazily|in a worker|twice], [since|because] {customer} [mixed|typed|"
        "exported] [commas and points|local zones|{term} codes|old formats]."
    ),
    (
        "[Developers|Analysts|Testers|Contractors] [obtain|request|regain] access to {subject} [through "
        "form {code}|from the desk|by group|for a sprint], and [see|get|read] [masked|sampled|synthetic|"
        "aged] [rows|data|events]."
    ),
    (
        "Since the [move|merge|audit|rename] of {year} {subject} [writes|ships|keeps|samples] [structured|"
        "fewer|signed|coloured] [logs|metrics|traces], [searchable|stored|grouped] by the {term} [key|tag|"
        "trace]."
    ),
    (
        "The [worker|scheduler|gateway|parser] in {subject} [sorts|batches|locks|compresses] [readings|"
        "tickets|images|labels] by {term} [order|hash|shard], [fast|simple|clever|odd] enough that "
        "{person} [wrote it up|left it alone|patented nothing]."
    ),
    (
        "{other_team} and {team} [agreed|disagree|wrote down|tested] how {subject} should [behave|answer|"
        "fail|warn] when [clocks drift|disks fill|{service} is silent|quotas bite|files arrive twice]."
    ),
    (
        "A [small|growing|stubborn|seasonal] [backlog|share|group|set] of [orphaned jobs|stale locks|ghost "
        "tenants|blank rows] in {subject} is [cleared|counted|ignored|explained] [on Mondays|by script|by "
        "{person}|in note {code}]."
    ),
    (
        "{subject} [lacks|dropped|postponed|never had] [partial updates|undo|full-text search|four-eyes "
        "approval|{term} groups], [although|but] [sales slides|old wikis|fair posters|training decks] [say "
        "otherwise|mention it|promise it] [in passing|in bold|under {term}|without a date]."
    ),
    (
        "The [language|library|compiler|database driver] [version|upgrade|swap|freeze] for {subject} was "
        "[tested|discussed|put off|completed] in {month} with {other_team}, [at the price of|thanks to|"
        "despite] [flaky tests|a {term} shim|new warnings|long builds]."
    ),
    (
        "[Screenshots|Exports|Links|Sample files] of {subject} in [{product} manuals|training decks|"
        "tenders|the wiki] [show|use|come from] an [older|early|invented|anonymised] [tenant|layout|{term} "
        "view|colour scheme]."
    ),
    (
        "[Time|Unit|Currency|Language] handling in {subject} was [unified|audited|patched|questioned] "
        "after {customer} [saw|printed|billed|mailed] a [label|report|chart|receipt] with [two dates|mixed "
        "commas|{term} codes]."
    ),
    (
        "If [search|login|export|printing] in {subject} [hangs|fails|loops|flickers], [clear|reset|copy|"
        "wait for] the {term} [token|cache|lock|view] and [note|send|attach] the [trace|hour|tenant|"
        "screenshot] to ticket {code}."
    ),
    (
        "The [queue|index|ledger|archive] behind {subject} [doubled|shrank|was sharded|was rebuilt] during "
        "{project}, [leaving|with|without] [gaps|duplicates|tombstones|{term} markers] that [tests|"
        "auditors|{person}] [found|accepted|removed]."
    ),
    (
        "{subject} [got|took|has] its name [from a dog|from a sea chart|from a lottery|from {person}|from "
        "the {term} poster], and [two|three|several] [rejected|funnier|older] names [survive|appear|lurk] "
        "in [logs|tests|table prefixes]."
    ),
    (
        "[Rate|Quota|Size|Depth] rules in {subject} [favour|protect|annoy|exempt] [gateways|batch jobs|"
        "{customer}|interactive users|the {term} importer], as [argued|measured|minuted|requested] in "
        "{month} {year}."
    ),
    (
        "On {date} {team} [switched|drained|froze|cloned|renamed] the {term} [stage|replica|branch|"
        "namespace] of {subject} for [a drill|training|{project}|an audit|cleaning], and [lost|gained|"
        "restored] [nothing|an hour|some logs]."
    ),
    (
        "[Known|Accepted|Tracked|Minor] [quirks|gaps|defects|limits] of {subject}: [late thumbnails|wide "
        "tables|sluggish sorting|double tooltips|wrong plurals], plus [whatever|anything] {person} [adds|"
        "reports|finds] under {term}."
    ),
)
