"""What pages on vendors say besides their facts."""

from __future__ import annotations

PROSE = (
    (
        "{subject} [makes|casts|supplies|machines|coats|prints] [springs|lens blanks|circuit boards|"
        "gaskets|cartons|die-cast frames|labels] [in small lots|to drawing|on two lines|with hand "
        "finishing], [including|apart from] the {term} [series|grade|variant]."
    ),
    (
        "Parcels from {subject} [arrive|are booked in|are weighed|wait] at the [north gate|goods desk|"
        "bonded store|{office} dock], [usually|often|seldom] [before noon|on Tuesdays|without papers|in "
        "returnable crates], and are [opened|sampled|photographed] by {team}."
    ),
    (
        "A [supplier visit|process audit|line walk|factory tour] at {subject} on {date} [found|noted|"
        "recorded|missed] [clean benches|mixed lots|worn tools|good records|{term} residue], [reported|"
        "minuted|signed] by {person} as {code}."
    ),
    (
        "[Samples|First articles|Trial lots|Replacement parts] from {subject} [passed|failed|puzzled|"
        "delighted] [incoming inspection|{other_team}|the test hall|the paint shop] in {month} {year}, "
        "[owing to|apart from|despite] [burrs|odd colour|{term} marks|thin plating]."
    ),
    (
        "{subject} [asked|offered|refused|forgot] to [hold buffer stock|share drawings|change the resin|"
        "label in English|send {term} certificates], and {person} [answered|agreed|insisted|is waiting] in "
        "[letter|ticket|note] {code}."
    ),
    (
        "[Invoices|Delivery slips|Credit notes|Packing lists] from {subject} [quote|omit|misspell|repeat] "
        "[order numbers|batch codes|the {term} reference|tax marks], so {team} [checks|returns|corrects|"
        "scans] them [by hand|twice|on arrival]."
    ),
    (
        "The [self-assessment|questionnaire|code of conduct|sustainability report] of {subject} [covers|"
        "skips|exaggerates|explains] [night work|solvents|conflict minerals|water use|{term} waste], [as|"
        "so] {other_person} [found|wrote|complained] in {month} {year}."
    ),
    (
        "[Tools|Moulds|Gauges|Masks|Pallets] [lent to|kept at|returned by|shared with] {subject} [carry|"
        "bear|lost|need] [the tag {code}|a blue stripe|a seal|{term} plates], and are [counted|greased|"
        "photographed] [yearly|at stocktaking|by {person}]."
    ),
    (
        "{subject} was [bought|renamed|split|founded again|nearly closed] in {year}, [after|following] [a "
        "merger|a family row|a fire|a strike|the {term} crisis], and [moved|kept|sold|expanded] its "
        "[foundry|paint line|warehouse|laboratory]."
    ),
    (
        "[Quality|Delivery|Price|Design] talks with {subject} [took place|dragged on|ended well|restarted] "
        "in {office} in {month}, [with|without] [samples|lawyers|{person}|interpreters|figures], [mainly|"
        "partly] over {term} [scrap|finish|tests]."
    ),
    (
        "For {product}, {subject} [developed|proposed|tested|dropped] a [thinner|cheaper|quieter|"
        "lead-free] [foil|bracket|bearing|cable|adhesive], [known|filed|tracked] as {term}, which {team} "
        "[approved|shelved|trialled|loved]."
    ),
    (
        "[Complaints|Deviation slips|Eight-step reports|Warnings] to {subject} [concern|mention|list] "
        "[short counts|cracked trays|rust|mixed revisions|{term} dust], and [replies|remedies|excuses] "
        "[come|arrive] [promptly|late|in German|with photographs]."
    ),
    (
        "A [second|backup|local|cheaper] source for what {subject} [ships|plates|winds|prints] is [sought|"
        "approved|unlikely|on trial] at {other_team}, [because of|in view of|ever since] the {term} "
        "[shortage|strike|flood] of {year}."
    ),
    (
        "{subject} [uses|runs|hires|trusts] [its own lorries|a parcel firm|river barges|rail|a {term} "
        "forwarder] and [warns|calls|mails|forgets] {team} when [snow|customs|a holiday|a strike] [delays|"
        "splits|stops] a load."
    ),
    (
        "The [portal|catalogue|order form|hotline] of {subject} [lists|hides|misprints|translates] [lead "
        "times|minimum lots|colours|{term} codes|drawings], [best|only|easily] [used|read|opened] with [an "
        "old browser|patience|help from {person}]."
    ),
    (
        "[Engineers|Buyers|Testers|Apprentices] who [visited|trained at|phoned|wrote to] {subject} "
        "[mention|remember|praise|criticise] [the canteen|strict gloves|a rooftop lab|friendly fitters|the "
        "{term} museum] [long afterwards|in their trip notes|whenever {person} asks|before anything else]."
    ),
    (
        "[Security|Privacy|Safety|Export] [checks|forms|clauses|seals] for {subject} were [repeated|"
        "completed|queried|waived] on {date} by {other_team}, [except|including] those on {term} [data|"
        "dyes|chips|visits]."
    ),
    (
        "[Returned|Rejected|Surplus|Sample] [goods|lots|rolls|boards] of {subject} [lie|wait|age|are "
        "sorted] in [the cage|bay {code}|a container|the cellar], [until|while] {person} [decides|"
        "photographs|argues|recounts]."
    ),
    (
        "{subject} [supports|attends|avoids|exhibits at] [the tool fair|a sailing club|the metrology days|"
        "school labs|the {term} forum], where {person} and {other_person} [met|bargained|lectured|got "
        "lost] in {year}."
    ),
    (
        "[Drawings|Standards|Tolerances|Work instructions] at {subject} [follow|lag|exceed|mix] [ours|the "
        "old norm|issue {code}|{customer} rules], [a fact|something] {team} [learned|fixed|accepted] "
        "[during|after] the {term} [recall|trial|visit]."
    ),
    (
        "[Cartons|Crates|Reels|Drums|Trays] from {subject} [stack|travel|fit|dry] [poorly|well|better "
        "since {month}], [thanks to|in spite of|because of] the {term} [liner|strap|glue], [writes|finds|"
        "measured] {other_person}."
    ),
    (
        "The [founder|night foreman|chief chemist|export clerk] of {subject} [once worked|trained|studied|"
        "sailed] with {person}, [which|a link that] [helps|complicates|explains] [rush orders|frank talk|"
        "{term} favours|the tone of letters]."
    ),
    (
        "[Rush|Blanket|Repeat|Test] orders to {subject} [need|skip|quote|carry] [form {code}|two initials|"
        "a {term} stamp|a drawing], and [go|are sent|are copied] to [the stores|the goods desk|the archive|"
        "customs|the gate] [before ten|by mail|with a sketch]."
    ),
    (
        "In the [scorecard|ranking|supplier day|annual talk] of {year} {subject} was [praised|warned|"
        "marked down|singled out] for [delivery|paperwork|ideas|cleanliness|{term} work], and [weak|strong|"
        "silent] on [spares|claims|energy]."
    ),
    (
        "{subject} [changed|tested|stopped|hid] its [plating bath|glue|sub-supplier|paint|{term} oven] in "
        "{month} {year} [without a word|after a letter|with approval {code}|by accident], and {other_team} "
        "[noticed|retested|objected]."
    ),
    (
        "[Workshops|Calls|Walk-throughs|Chats] with {subject} about [packaging|lead-free solder|shared "
        "gauges|bar codes|{term} scrap] are [held|planned|minuted|cancelled] by {person} [each spring|when "
        "needed|in {office}]."
    ),
    (
        "[Stock|Payment|Drawing|Label] [mismatches|errors|gaps|puzzles] with {subject} are [settled|"
        "collected|logged|aired] [monthly|on Fridays|with {team}|in sheet {code}], [oldest|largest|{term} "
        "ones] first."
    ),
    (
        "{customer} [knows|remembers|mentions] {subject} [from a recall|from trade fairs|in its own tender|"
        "because of {term} glass], so [labels|visits|letters|test reports] are [shared|masked|translated] "
        "[with care|on request]."
    ),
    (
        "[Two|Three|A few|Some] [fitters|planners|chemists|drivers] of {subject} [worked|stayed|trained|"
        "sat] with {other_team} during {project} to [set up|clean|learn|repair] the {term} [line|rack|"
        "press|mixer]."
    ),
    (
        "The [lab|dock|archive|mould shop] of {subject} [burned|flooded|moved|grew] in {year}, and [old|"
        "some|most|our] [records|tools|samples|drawings] were [lost|saved|copied|dried], [among them|"
        "except] {term} [plates|files]."
    ),
    (
        "[Alternatives|Rivals|Successors] to {subject} were [rated|visited|ruled out|invited] by {team} on "
        "{date}, [using|without] [blind samples|a {term} test|long lists|site photos], [see|filed as] "
        "{code}."
    ),
    (
        "{subject} [communicates|writes|answers|negotiates] [in French|by fax|tersely|through an agent|"
        "with sketches], [so|and] {person} [translates|forwards|archives|decodes] [every|each|any {term}] "
        "[letter|message|drawing]."
    ),
    (
        "[Holidays|Shutdowns|Shift changes|Inventories] at {subject} [overlap|clash|coincide] with [ours|"
        "the fair|harvest|{project} tests], and [orders|calls|samples] [wait|pile up|are brought forward] "
        "[accordingly|until {month}|at the {term} desk]."
    ),
    (
        "A [recall|rework|sorting job|field check] with {subject} over [soft screws|{term} film|swapped "
        "labels|brittle feet] [ended|cost nerves|taught much|dragged on] in {month}, [told|kept|"
        "summarised] in {code}."
    ),
    (
        "[Driver files|Firmware images|Test scripts|Masks] from {subject} [come|are sent|arrive] [unsigned|"
        "by courier|with hashes|on cards], and {other_team} [scans|archives|rebuilds|compares] them "
        "[offline|before use|with {term} tools]."
    ),
    (
        "{subject} [recycles|grinds|buys back|labels] [offcuts|drums|trays|{term} waste|old reels] [for us|"
        "free of charge|by rail|since {year}], [an idea|a scheme] of {person} [copied|praised|doubted] "
        "elsewhere."
    ),
    (
        "[Photos|Certificates|Melt sheets|Test strips] from {subject} are [filed|lost|stapled|scanned] "
        "[per lot|by {team}|under {code}|in {service}], and [auditors|students|inspectors] [ask|look] for "
        "the {term} [page|stamp]."
    ),
    (
        "At [dinner|the fair|a funeral|the station] in {office}, staff of {subject} and {person} [talked|"
        "joked|argued|dreamed] about [a shared lab|{term} futures|longer shifts|old debts|better foam]."
    ),
    (
        "[Inspection|Sampling|Skip-lot|Entry] rules for {subject} were [tightened|relaxed|reset|explained] "
        "by {other_team} in {month} {year}, [after|given|despite] [ten clean lots|a mix-up|{term} findings|"
        "new gauges]."
    ),
    (
        "[Nobody|Hardly anyone|No archivist] at Norrvik [remembers|knows|can prove] why {subject} [paints "
        "crates green|numbers lots backwards|skips July|stamps {term} on lids], [not even {other_person}|"
        "least of all {other_person}|least of all the auditors]."
    ),
    (
        "{subject} [holds|lost|regained|displays] [a foundry award|the {term} certificate|a customs permit|"
        "an old medal|bank references], [seen|copied|checked] by {team} [on site|on {date}|in file {code}]."
    ),
    (
        "[Language|Unit|Colour|Date] mix-ups with {subject} [caused|nearly caused|explain] [mirrored holes|"
        "a blue lot|inch threads|double shipments|the {term} affair] in {year}, [so|hence] drawings now "
        "[carry|show] [both|examples|icons]."
    ),
    (
        "[Prototype|Bridge|Winter|Leftover] stock made by {subject} for {product} is [kept|aged|tested|"
        "sold] by {other_team} in [dry boxes|bay {code}|{office}|sealed bags], [marked|known] as {term} "
        "[goods|lots]."
    ),
    (
        "The [weighbridge|reception|sample counter|night desk] at {subject} [closes early|is hard to find|"
        "was repainted|wants two signatures], so [drivers|couriers|visiting engineers|apprentices] [ring "
        "first|carry a map|allow an hour|bring the {term} slip], as {person} [learned|recommends|wrote in "
        "{code}]."
    ),
    (
        "{other_team} [teaches|shows|reminds|urges] [newcomers|testers|store clerks|drivers] to [unpack|"
        "weigh|rinse|stack] [reels|trays|castings|cartons] from {subject} [with gloves|on felt|under a "
        "lamp|two at a time], [a lesson from|because of|ever since] the {term} [mishap|complaint|winter] "
        "of {year}."
    ),
    (
        "[Archive boxes|Sample cards|Old letters|Glass negatives] [show|prove|suggest] that {subject} and "
        "Norrvik [shared a stand|exchanged apprentices|quarrelled over {term} patents|swapped lathes] "
        "[before the war|in the seventies|long ago], [a fact|something] that [few people|young engineers|"
        "visitors] [know|mention|believe]."
    ),
)
