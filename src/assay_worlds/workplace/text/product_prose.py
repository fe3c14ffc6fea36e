"""What pages on products say besides their facts."""

from __future__ import annotations

PROSE = (
    (
        "The [housing|bezel|handle|mounting plate|carrying case] of {subject} is [milled|cast|moulded|"
        "pressed|printed] from [recycled aluminium|glass-filled nylon|stainless steel|a {term} alloy|"
        "bronze], and [coated|brushed|anodised|left bare] against [sweat|brine|solvents|scratches]."
    ),
    (
        "{subject} [measures|logs|displays|estimates] [flow|torque|humidity|vibration|dew point|gas traces|"
        "thickness] [by means of|with|through] a {term} [cell|bridge|probe|coil], [a principle|an idea|a "
        "trick] [first tried|shown|described] by {person} in {year}."
    ),
    (
        "[Early|Some|A few|Returned] units of {subject} [showed|had|developed] [fogged windows|sticky keys|"
        "loose inserts|{term} drift|noisy fans] [in cold stores|after transport|at sea|near welders], "
        "which a [gasket|shim|filter|patch] [cured|reduced|masked]."
    ),
    (
        "{customer} [borrowed|tested|tried out|kept] {subject} for a week [in a cold store|on a test track|"
        "along a pipeline|in a classroom|beside a kiln] and [asked|wished|pressed|waited] for [a longer "
        "cable|louder alarms|a {term} mode|left-handed grips]."
    ),
    (
        "The [quick guide|service manual|data sheet|brochure|assembly film] for {subject} was [revised|"
        "translated|reprinted|proof-read|redrawn] [for export|in {month} {year}|in large print|by "
        "students], and [cites|shows|explains] the {term} [setting|adapter|symbol]."
    ),
    (
        "[Spare|Wear|Demo|Optional] parts of {subject} such as [seals|probe tips|batteries|filters|clamps|"
        "displays] are [boxed|labelled|stocked|counted] by {team} under {code}, [apart from|together with] "
        "the {term} [kit|set|collar]."
    ),
    (
        "A [drop|salt spray|shock|humidity|flicker] test on {subject} was [passed|repeated|failed|"
        "witnessed] [on {date}|in {month} {year}|at the second try], with [the {term} variant|a softer "
        "boot|a new lens|half the samples] in [use|doubt|place]."
    ),
    (
        "{subject} [replaces|complements|resembles|undercuts|outlives] {product} in [small workshops|"
        "dairies|ship engines|hospital labs|tunnels], [though|although|while] [its display|the stand|the "
        "{term} port|the software] is [plainer|newer|slower|larger]."
    ),
    (
        "The [display|keypad|menu|status light] of {subject} [dims|beeps|flashes|turns amber] when [the "
        "probe is dry|a file is full|the {term} limit nears|no network is found|it is tilted], a [habit|"
        "signal|nuisance] [users|fitters|testers] [quickly learn|switch off|mention]."
    ),
    (
        "[Sales|Field|Test|Service] engineers [report|believe|know|claim] that {subject} [is lighter|looks "
        "dearer|starts faster|runs warmer|packs smaller] than [rivals|its predecessor|{product}|expected], "
        "[a view|which] {person} [shares|disputes|measured]."
    ),
    (
        "Firmware of {subject} [is built|is signed|is flashed|was forked] [nightly|by {team}|on a farm of "
        "boards|from the {term} branch], and [testers|students|robots] [press every key|read every screen|"
        "drop power] before [shipment|release|freeze]."
    ),
    (
        "At the [fair|open day|demo week|customer forum] in {office} {subject} was [shown|mistaken|taken "
        "apart|photographed] next to [{product}|a rival's case|a fish tank|a steam valve], [drawing|with] "
        "[crowds|questions|a {term} demonstration]."
    ),
    (
        "The [packaging|foam|sleeve|leaflet|label set] of {subject} was [slimmed|redrawn|recycled|"
        "enlarged] in {month} {year} to [save air|please customs|survive rail|fit {term} trays], [at the "
        "suggestion of|over objections from|with help of] {person}."
    ),
    (
        "[Accessories|Brackets|Stands|Cables|Covers] for {subject} [fit|also fit|nearly fit] {product}, "
        "[if|provided|once] the {term} [ring|sleeve|screw] is [added|turned|removed|filed], as [drawing|"
        "note|sketch] {code} shows."
    ),
    (
        "{subject} [must not|should not|cannot] be [cleaned with acetone|stored upright|opened in dust|"
        "paired with {product}|sterilised], [because|since] the {term} [film|bond|lens|membrane] [swells|"
        "clouds|creeps|cracks]."
    ),
    (
        "[Certification|Type approval|Radio approval|Explosion testing] of {subject} [took|needed] [more|"
        "fewer] [rounds|samples|letters] than [planned|that of {product}|{person} feared], [owing to|"
        "despite|thanks to] the {term} [antenna|casing|clause]."
    ),
    (
        "[Refurbished|Loan|Engraved|White-label] [units|sets|pairs] of {subject} [carry|lack|bear] [a grey "
        "dot|the mark {code}|a {term} plate|two serials], so that {team} can [tell|trace|sort|recall] them."
    ),
    (
        "The [idea|sketch|name|shape] of {subject} [came from|goes back to|was drawn by|was fought over "
        "by] {person} [on a ferry|at a fair|in a {project} workshop|over lunch], [years|months|a decade] "
        "before [tooling|launch|funding]."
    ),
    (
        "{subject} [uses|needs|wastes] [less|more] [board space|power|copper|care|glue] [than before|than "
        "{product}|since {year}], [the result|a side effect] of the {term} [redesign|shortage|merger|"
        "audit]."
    ),
    (
        "[Trainers|Fitters|Inspectors|Old hands] [advise users|tell beginners|remind everyone|never "
        "forget] to [zero|warm up|level|ground|dry] {subject} [before use|after transport|every morning|"
        "between samples], [or|otherwise] the {term} [value|baseline|graph] [wanders|freezes|jumps]."
    ),
    (
        "A [rental|loan|trial|swap] [pool|scheme|programme] for {subject} [was tried|ended|was discussed|"
        "was dropped] with {vendor} in [{office}|schools|ports|mines], [run|watched|counted] by {team} and "
        "[logged|insured|filed] under {code}."
    ),
    (
        "The [mobile|desktop|web|kiosk] companion of {subject} [draws|prints|shares|hides] [trends|limits|"
        "notes|sketches|the {term} chart], and was [tested|designed|criticised|renamed] by [{other_team}|"
        "students|{customer}|{person}]."
    ),
    (
        "[Complaints|Questions|Rumours|Letters] about {subject} in {year} [mostly|often|rarely] [concerned|"
        "named|touched] [the strap|buttons|glare|battery doors|{term} noise], [less|never|seldom] "
        "[accuracy|delivery|price]."
    ),
    (
        "{subject} [ships|travels|is stored|is returned] in [a blue crate|a tray of six|a padded tube|"
        "bonded stock] with [silica bags|a {term} lock|a shock label|a paper log], [sealed|weighed|"
        "photographed] by {other_team}."
    ),
    (
        "[Moulds|Jigs|Masks|Gauges|Press tools] for {subject} [wear|were moved|are shared|were rebuilt] "
        "[at {vendor}|after {project}|in {month}|each winter], and [first|trial|odd] [shots|parts|lots] "
        "get [measured|scrapped|kept] by {person}."
    ),
    (
        "Since {year} the [front foil|side stripe|key legend|logo|base plate] of {subject} has been [grey|"
        "amber|bare metal|{term} green|dark blue] [for export|after reading tests|for want of dye|by "
        "popular demand], [says|notes|admits] {other_person}."
    ),
    (
        "[Integration|Pairing|Bundling|Data exchange] of {subject} with {product} is [explained|tested|"
        "sold|avoided] in [a {term} note|course material|tender {code}|a film], [with|without] [sample "
        "files|pitfalls|drawings|numbers]."
    ),
    (
        "[Teachers|Divers|Brewers|Millers|Surveyors|Nurses] have [adapted|tried|reviewed|rented] {subject} "
        "for [uses|jobs|places] that [nobody at Norrvik|hardly anyone|no brochure] [foresaw|had in mind|"
        "mentions], [such as|including] {term} [baths|vats|walls]."
    ),
    (
        "An [independent|angry|illustrated|anonymous] [review|critique|examination|dissection] of "
        "{subject} [appeared|circulated|was quoted] in {month} {year}, [praising|doubting|measuring] its "
        "[zero stability|grip|{term} filter|menus|cases]."
    ),
    (
        "{subject} [borrows|inherits|lacks|shares] the [pump|hinge|encoder|lens|clock] of {product}, "
        "[which|and this] [eases|complicates|slows] [repairs|spares|tests|training] whenever {term} [stock|"
        "wear|recalls] [occurs|appears]."
    ),
    (
        "The [roadmap|wish list|idea board|suggestion file] for {subject} [holds|repeats|lost|ranks] "
        "[wireless zeroing|larger knobs|offline maps|a {term} option|voice prompts], [none|some|most] of "
        "it [funded|dated|promised]."
    ),
    (
        "[Magnets|Paint fumes|Radio masts|Strong lamps|Dust clouds] [near|around|above] {subject} [disturb|"
        "bend|slow|hide] the {term} [reading|signal|scale], [as|so] {customer} [found|proved|wrote] in "
        "[ticket|letter|report] {code}."
    ),
    (
        "Dealers [order|display|return|mix up] {subject} [with|and|instead of] {product}, [so|hence] the "
        "[carton|sticker|list|leaflet] [now|soon] [shows|names|explains] the {term} [window|stripe|suffix] "
        "[plainly|twice|in red]."
    ),
    (
        "[Patents|Design rights|Trade marks|Open parts] [around|in|behind] {subject} were [filed|sold|"
        "searched|dropped] in {year} by {other_team}, [among them|except|after] the {term} [grip|valve|"
        "algorithm] of {person}."
    ),
    (
        "A [cutaway|giant|wooden|crushed|gilded] {subject} [stands|hangs|lies|tours] in {office} to [show|"
        "remind|teach|amuse] [visitors|apprentices|auditors] [what|how] the {term} [chamber|bond|flaw] "
        "[does|looked|cost]."
    ),
    (
        "During {project} {subject} was [simulated|benchmarked|stripped|rewired|translated] by {team}, "
        "[using|without|on] [{term} data|borrowed rigs|two samples|old drawings], and the [files|lessons|"
        "parts] are [kept|public|lost]."
    ),
    (
        "The [end cap|strap lug|battery door|probe tip|side cover] of {subject} [should|may|must] be "
        "[greased|torqued|inspected|swapped] [yearly|by feel|after drops|with tool {code}], [never|not] "
        "with {term} [oil|keys|force]."
    ),
    (
        "[Counterfeit|Copied|Repainted|Stolen] [units|cases|chargers|probes] of {subject} [turned up|were "
        "sold|were seized] in {month} {year}, [spotted|reported|bought] by {customer} [thanks to|because "
        "of] the {term} [mark|weight|smell]."
    ),
    (
        "[Energy|Standby|Start-up|Sleep] behaviour of {subject} [was tuned|is debated|was filmed|differs] "
        "[for buses|by {team}|on batteries|in cold], [after|since] {person} [plotted|questioned|halved] "
        "the {term} [curve|drain|delay]."
    ),
    (
        "The [training|demo|press|museum] set of {subject} [lives|sits|waits|travels] with {other_team} "
        "and [contains|lacks|includes] [broken parts|a {term} dummy|old menus|spare fuses], [signed out|"
        "booked|moved] via {code}."
    ),
    (
        "[Noise|Heat|Weight|Glare] was the [main|only|first] [criticism|worry|topic] when {customer} "
        "[compared|ranked|trialled] {subject} against {product}, and {person} [answered|agreed|measured] "
        "[at length|by letter|on {date}]."
    ),
    (
        "{subject} [understands|exports|prints|imports] [plain text|spreadsheets|old binary files|bar "
        "codes|{term} frames] [over cable|by card|through a dongle|by radio], [slowly|safely|silently] and "
        "[one|ten|many] at a time."
    ),
    (
        "An [old|odd|urban|unlikely] [story|rumour|joke|belief] says {subject} was [nearly scrapped|named "
        "for a cat|painted by mistake|built for {customer}|tested in a sauna], [which|a tale] {person} "
        "[denies|enjoys|confirms]."
    ),
    (
        "In [humid|dusty|freezing|salty|noisy] [places|halls|tunnels|ports], [fit|add|tape] the {term} "
        "[hood|boot|filter|sleeve] to {subject} and [check|log|photograph] the [window|zero|seal|strap] "
        "[daily|weekly|first]."
    ),
    (
        "The [carrying strap|lens cap|tilt stand|cable clip] of {subject} was [an afterthought|drawn on a "
        "napkin|copied from {product}|tested by children], yet [fair visitors|fitters|dealers|reviewers] "
        "[mention|praise|photograph] it more often than the {term} [sensor|module|engine]."
    ),
    (
        "[Recycling|Dismantling|Shredding|Sorting] of [worn-out|returned|crushed|obsolete] {subject} units "
        "is [tested|taught|filmed|done by hand] at [a charity|the training workshop|{vendor}|a school], "
        "where the {term} [magnets|glues|foils|screws] [cause delay|are weighed|fetch good money|worry "
        "{person}]."
    ),
)
