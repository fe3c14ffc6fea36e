"""What pages on teams say besides their facts."""

from __future__ import annotations

PROSE = (
    (
        "{subject} [meets|gathers|holds its stand-up|comes together] [on Tuesday mornings|after lunch on "
        "Thursdays|before each stocktaking|every other Wednesday], [mostly|usually|always] to [sort "
        "incoming requests|look at open defects|share what went wrong|agree who travels]."
    ),
    (
        "Requests to {subject} are [written on form {code}|filed as tickets|left in the tray|sent by mail] "
        "and [looked at|ranked|answered|sorted] [in the order of arrival|by urgency|twice a week|before "
        "noon], unless {term} [gear|paperwork|stock] is involved."
    ),
    (
        "In {month} {year} {subject} [took over|inherited|borrowed|bought back|rescued] the [drawing "
        "archive|label printing|loan pool|hotline backlog|test fixtures] from {other_team}, [along with|"
        "without|apart from|including] the {term} [cabinets|scripts|records]."
    ),
    (
        "The [charter|mission statement|founding memo|remit] of {subject} was [rewritten|shortened|"
        "translated|argued over] in {month} {year} after a [merger|reorganisation|long silence|bad audit|"
        "change of course]."
    ),
    (
        "{subject} [works with|depends on|argues with|supplies|borrows people from] {other_team} whenever "
        "[{product} boards|reference weights|export papers|pump housings|training videos] are [late|short|"
        "disputed|recalled], [as happens|a case that arises] [every spring|more often than planned|before "
        "fairs|now and then]."
    ),
    (
        "New members of {subject} [spend|begin with|are given] [a week|a fortnight|a month|some days] [in "
        "the test hall|on the hotline|with the archive|beside {person}] to [learn|see|try|copy out] the "
        "{term} [routine|table|handshake]."
    ),
    (
        "The [wall|shared folder|pin board|glossary|reading list] of {subject} [explains|collects|"
        "illustrates|translates] [house abbreviations|old drawing numbers|paint codes|the {term} family|"
        "alarm tones], and is [kept current|pruned|photographed] by {person}."
    ),
    (
        "A [retrospective|review|look back|post-mortem] in {office} [found|concluded|recorded|joked] that "
        "{subject} [loses|wastes|spends] most time on [handovers|missing labels|duplicate tickets|waiting "
        "for {vendor}|status slides]."
    ),
    (
        "{subject} [does not|no longer|never did] [repair|order|store|ship|certify] [third-party gauges|"
        "office furniture|demo kits|{term} inserts|batteries]; such [requests|parcels|calls] are [passed|"
        "returned|redirected] to {other_team}."
    ),
    (
        "For {customer}, {subject} [built|adapted|tested|documented|rescued] [a leak bench|an import "
        "script|a weighing frame|a training day|a set of seals] in {month} {year}, [ahead of|just before|"
        "long after|in spite of] the [fair|strike|flood]."
    ),
    (
        "Among the [tools|scripts|rigs|habits] that {subject} [is proud of|maintains|inherited|regrets], "
        "the {term} [checker|bench|parser|press] is the [oldest|busiest|noisiest|most copied]."
    ),
    (
        "{subject} [rotates|shares|divides|draws lots for] the [dull|night|holiday|weekend|early] work "
        "[month by month|by a wheel on the wall|after each stocktaking|in the first week of {month}], and "
        "[swaps|exceptions|complaints] go through {person}."
    ),
    (
        "The [summer|winter|spring|autumn] [outing|workshop|clean-up|open day] of {subject} [took place|"
        "was held|ended|got stuck] in {office}, with [canoes|a quiz|soldering|a lecture on {term}|too much "
        "soup]."
    ),
    (
        "An [inventory|audit|inspection|informal count] [showed|turned up|revealed] that {subject} keeps "
        "[more|fewer|older|better] [torque keys|loan laptops|sample fridges|safety boots|spare displays] "
        "than [{other_team}|the ledger|anybody] [knew|admitted|assumed]."
    ),
    (
        "Drawings that {subject} [issues|releases|signs|reviews] carry [a green stamp|the mark {code}|two "
        "initials|a bar at the left edge], which [suppliers|auditors|apprentices|translators] [tend to "
        "overlook|ask about|like|copy]."
    ),
    (
        "{subject} [trialled|dropped|adopted|postponed] [pair reviews|silent meetings|a kanban wall|"
        "written stand-ups|no-mail Fridays] in {year} and [kept|reversed|softened|forgot] the [change|"
        "experiment|rule] after [a season|two releases|one bad week]."
    ),
    (
        "Whenever {service} [misbehaves|is slow|sends odd alerts|is upgraded], {subject} [notices|suffers|"
        "is told|hears of it] [early|last|through customers|from {person}|by accident], because [its "
        "reports|the {term} exports|the label printers] [stall|go blank|arrive twice]."
    ),
    (
        "[Apprentices|Students|Guests|Trainees] [rotate through|visit|shadow|apply to] {subject} [in "
        "autumn|twice a year|on request|after their exam], where they [wire|measure|translate|dismantle|"
        "catalogue] a {term} [unit|set|board] of their own."
    ),
    (
        "The [history|name|logo|reputation] of {subject} [goes back to|stems from|was settled by|owes much "
        "to] [a lost bet|the old gauge works|a reorganisation in {year}|{person}|the {term} affair], or so "
        "the [staff paper|jubilee book|wiki|canteen gossip] [claims|has it|suggests]."
    ),
    (
        "{subject} [writes|publishes|circulates|prints] a [short|hand-drawn|blunt|monthly] [digest|"
        "newsletter|bulletin|summary] on [returned goods|field failures|lab climate|supplier visits|{term} "
        "news], which {other_team} [archives|translates|ignores|quotes]."
    ),
    (
        "A [long-standing|small|recurring|half-forgotten] [dispute|agreement|experiment|backlog] between "
        "{subject} and {vendor} about [packaging|{term} tolerances|drawings|return freight|sample sizes] "
        "was [closed|revived|minuted|escalated] on {date}."
    ),
    (
        "In the [office survey|climate poll|exit interviews|suggestion box] of {year}, members of "
        "{subject} [asked for|praised|dreamed of|joked about] [quieter fans|longer loans|clearer drawings|"
        "fewer forms|daylight]."
    ),
    (
        "{subject} [lends|stores|inspects|cleans] [tripods|leak seekers|data loggers|reference plates|"
        "borescopes] for [everyone|{other_team}|visiting engineers|the fair crew], against [a signature|a "
        "ticket|form {code}|a promise] and [before noon|for three days at most|with a deposit|without "
        "spare batteries]."
    ),
    (
        "The [skills matrix|holiday calendar|handover book|contact sheet|risk list] of {subject} is [out "
        "of date|under revision|on the wall|in the binder|being merged], [as|since] {person} [added notes|"
        "spilled tea on it|found errors|redesigned it] in {month}."
    ),
    (
        "Work on {project} [absorbed|split|tired|delighted|overwhelmed] {subject} for most of {year}, and "
        "[routine|minor|old] [tickets|repairs|surveys|audits] [piled up|waited|were lent out|went to "
        "{other_team}]."
    ),
    (
        "{subject} [measures|counts|plots|weighs] [its own|all|returned|random] [samples|parcels|tickets|"
        "offcuts] [on the last Friday|each quarter|before audits|by hand], [a custom|a habit|an exercise] "
        "that [{person} began|auditors like|newcomers find odd|nobody questions]."
    ),
    (
        "[Two|Three|Several|A few] [procedures|forms|labels|checklists] [drafted|owned|abandoned|"
        "simplified] by {subject} mention {term} [glue|states|drums|links], a word that [{other_team}|the "
        "translator|the auditor|legal] [queried|banned|enjoyed|misread]."
    ),
    (
        "The [coffee fund|library|herb garden|tool wall|record player] of {subject} is [looked after|"
        "financed|kept up] by [volunteers|{person}|fines for late notes|the losers at darts], [year in, "
        "year out|without much fuss|since {year}|on quiet afternoons]."
    ),
    (
        "Since {month} {year} {subject} [tags|colours|numbers|sorts] its [cases|crates|tickets|cables] by "
        "[customer|voltage|urgency|origin|age] [rather than|instead of|as well as] by {term} [class|order|"
        "weight]."
    ),
    (
        "{subject} [hosted|declined|joined|left early from] the [audit|round table|vendor day|hackathon|"
        "fire drill] in {office}, [where|at which] {person} [presented|defended|mislaid|sold out of] the "
        "{term} [figures|kits|slides]."
    ),
    (
        "[Experience|Feedback|Data|Gossip] from {customer} [reaches|helps|embarrasses|surprises] {subject} "
        "through [the hotline|{other_person}|fair visits|return slips|service reports], and is [discussed|"
        "filed|pinned up] with {other_team}."
    ),
    (
        "The [mood|workload|noise|pace] in {subject} [changes|rises|falls] with [the fair season|release "
        "weeks|stocktaking|school holidays|the arrival of {term} stock], as the [charts|overtime sheets|"
        "coffee orders] [show|suggest|prove]."
    ),
    (
        "{subject} [keeps|kept|prunes|translates] a list of [promises|open questions|borrowed tools|broken "
        "links|pet hates], [nineteen|thirty-one|forty|a dozen] lines long in {month}, [half|most|few|none] "
        "of them about {term} [parts|mail|seals]."
    ),
    (
        "In an emergency {subject} [opens|staffs|clears|feeds] the [workshop|situation desk|spare hall|"
        "help line] [within the hour|at short call|with volunteers|as in {year}], and [logs|photographs|"
        "counts|reports] [everything|each visitor|all {term} stock]."
    ),
    (
        "{person} and {other_person} [co-wrote|tested|reviewed|translated] the [onboarding book|packing "
        "guide|leak tutorial|lab rules|phone script] of {subject} and [argue|agree|joke] about [page three|"
        "the {term} chapter|the index|its title]."
    ),
    (
        "Most [defects|questions|loans|returns] that {subject} [handles|closes|logs|sees] concern [cracked "
        "housings|{product} displays|worn seals|wrong labels|old cables], and [fewer|hardly any|a growing "
        "number] [concern|touch] {term} [parts|software]."
    ),
    (
        "The [migration|move|clean-up|merge] of [tickets|drawings|photo folders|test data] of {subject} "
        "from {service} was [finished|stopped|repeated|celebrated] on {date}, [minus|except for|including] "
        "the {term} [branch|attachments|years]."
    ),
    (
        "{subject} [recommends|requires|suggests|forbids] [felt gloves|two signatures|a dry cabinet|a "
        "second reading|ear protection] when [handling|storing|weighing|demonstrating] [mirrors|{term} "
        "cells|solvent|spring sets|open housings], [even|above all|not only] in the [test hall|dark lab|"
        "goods entrance|training corner]."
    ),
    (
        "On {date} {subject} [celebrated|marked|remembered|toasted] [its anniversary|the last recall|a "
        "clean audit|the shipment to {customer}|the end of {project}] with [cake|a tour|a minute of "
        "silence|a long walk], [together with|in the absence of|at the expense of] {other_team}."
    ),
    (
        "[External|Visiting|Freelance|Retired] [experts|inspectors|engineers|translators] who [work beside|"
        "help|audit|train] {subject} [sign|wear|return|receive] a [badge|lab coat|tool bag|{term} kit] at "
        "the [gate|desk|stores]."
    ),
    (
        "{subject} [is asked|was asked|offered|refused] to [review|host|test|merge|rename] the {term} "
        "[library|course|lab|register] of {other_team}, and will [answer|decide|report] [by {month}|after "
        "the fair|when staff allow|in writing]."
    ),
    (
        "A [map|poster|comic|diagram] by {person} [shows|explains|mocks|traces] how [a parcel|a defect|a "
        "drawing|an idea|a complaint] [travels|wanders|limps|crawls] through {subject} and [out to|back "
        "from|past] {other_team}."
    ),
    (
        "The [least loved|best documented|most visible|oddest|dullest] [task|duty|chore|job] of {subject} "
        "is [label proofing|weighing returns|archive care|cable testing|the {term} count], [done|shared|"
        "dreaded] by [everyone|turns|the newest|{other_person}]."
    ),
    (
        "{subject} [stopped|began|resumed] [recording|printing|sharing|weighing] [visitor numbers|paper "
        "logs|scrap|lab humidity|{term} returns] in {month} {year}, [to save time|on advice of audit|after "
        "a complaint|by popular demand]."
    ),
    (
        "Where {subject} and {other_team} [overlap|differ|both sign|both order], the [older|stricter|"
        "shorter|cheaper] [form|drawing|habit|label] [wins|applies|stays|is kept] until {person} has "
        "[asked|compared|decided|found the file]."
    ),
)
