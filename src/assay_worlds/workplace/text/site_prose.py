"""Sentences that stand around the facts of a building."""

from __future__ import annotations

PROSE = (
    (
        "The [main|front|street] entrance has a [revolving|heavy|glass|sliding] door that "
        "[sticks|jams|whistles] in [frost|wind|damp weather]; the [side|garden|courtyard] door is "
        "[easier|quieter|wider] for [trolleys|prams|crates]."
    ),
    (
        "[Bicycles|Scooters|Helmets] [stand|are kept] under the [roof|canopy|stairs] at the [back|side], "
        "where [pumps|a socket|lockers|a tap] [can|may] be [used|found] by [all|anyone]."
    ),
    (
        "[Visitors|Guests|Couriers] [ring|report|register] at the [desk|counter|window], [wait|sit] in the "
        "[lobby|winter garden|blue corner], and are [collected|fetched|met] by their [host|contact]."
    ),
    (
        "The [canteen|coffee bar|tea kitchen] of {subject} is [known|praised|loved] for its [soup|cinnamon "
        "buns|view|quiet corner] and [feared|avoided] for its [queue|acoustics|draught]."
    ),
    (
        "[Lifts|Doors|Blinds|Radiators] that [misbehave|rattle|stop] are [reported|entered|photographed] in "
        "the [facility|building|house] portal, with the [floor|number on the frame|time]."
    ),
    (
        "[Smoking|Vaping|Feeding birds|Parking scooters] is [tolerated|allowed] only [behind|beside] the "
        "[bicycle shed|loading ramp|bottle bank], out of [sight|reach] of the [air "
        "intake|nursery|neighbours]."
    ),
    (
        "The [heating|cooling|ventilation] is [controlled|steered|managed] by [sensors|a timetable|the "
        "season], and [an open window|an extra heater|a taped vent] [confuses|upsets] it [badly|for hours]."
    ),
    (
        "[Meeting|Quiet|Video] rooms are [named|called] after [rivers|composers|lighthouses|minerals], a "
        "[custom|choice] [dating back|going back] to a [vote|competition] in {year}."
    ),
    (
        "[Fire|Evacuation|Alarm] [drills|exercises] are [held|run] [without warning|in daylight|with the "
        "brigade], and the [meeting|assembly] point is the [lawn|car park|square] [opposite|behind the "
        "hedge]."
    ),
    (
        "[Tenants|Firms|Neighbours] on the [upper|lower|other] floors [share|use] the "
        "[lobby|courtyard|loading ramp], and [expect|hope for] [quiet|tidiness|a greeting]."
    ),
    (
        "The [roof|facade|staircase] was [repaired|insulated|painted] in {year}, which is [why|the reason "
        "that] [photographs|drawings|old postcards] [show|have] [another|a different] [colour|outline]."
    ),
    (
        "[Lost|Forgotten|Found] [umbrellas|scarves|headphones|bottles] are [kept|stored] at the "
        "[reception|porter's desk] for a [season|while] and then [given|sent] to a [charity|school|flea "
        "market]."
    ),
    (
        "[Deliveries|Pallets|Crates] [arrive|come] through the [yard|rear gate|ramp], where the "
        "[bell|telephone|intercom] is [answered|heard] by the [stores|porter|post room]."
    ),
    (
        "The [garden|courtyard|terrace] is [cared for|planted|watered] by [volunteers|apprentices|a "
        "gardening club], and [tools|seeds|gloves] are in the [shed|green box|cellar]."
    ),
    (
        "[Desks|Chairs|Lamps|Screens] follow the {term} scheme, so that [hot-desking|moving|sharing] is "
        "[simple|possible] without [screwdrivers|forms|sighs]."
    ),
    (
        "[Architects|Historians|Students] [visit|ask about] {subject} [now and then|each spring], mostly "
        "because of its [brickwork|saw-tooth roof|spiral stairs|old crane]."
    ),
    (
        "[Noise|Dust|Detours] from the [building|road|tram] works [next door|outside] will [continue|go on] "
        "until {month}, as the [town|owner|contractor] has [written|announced]."
    ),
    (
        "The [server|post|print|first-aid] room is [reached|found] by the [narrow|second|cellar] "
        "[stairs|corridor], and [signs|arrows] have been [added|renewed] after [complaints|jokes]."
    ),
    (
        "[Mice|Pigeons|Wasps|Moths] were [seen|reported] in the [attic|store|kitchen], and "
        "[traps|nets|specialists] have been [tried|brought in] with [mixed|good] [results|success]."
    ),
    (
        "[Plants|Posters|Bicycles] in [corridors|stairwells] [block|narrow] the [escape|rescue] [route|way] "
        "and are [removed|carried off] [kindly|without discussion] on the [monthly|regular] "
        "[walk|inspection]."
    ),
    (
        "[Neighbours|Residents|Shopkeepers] [complained|wrote|called] about [lights|fans|lorries] at "
        "[night|dawn], and {team} has [promised|agreed] to [look|see] what can be [dimmed|moved|done]."
    ),
    (
        "The [bus|tram|ferry|train] [stop|halt] [nearest|closest] to the [gate|door] was "
        "[renamed|moved|rebuilt] in {year}; [old|printed] [directions|leaflets] are [wrong|misleading] "
        "[about|on] that."
    ),
    (
        "[Post|Mail] is sorted into [pigeonholes|trays|bags] on the [ground|first] floor, and "
        "[large|odd|cold] [items|parcels] [wait|stay] with the [porter|stores]."
    ),
    (
        "[Showers|Lockers|Drying rooms|Cots] are [available|found] in the [basement|east wing|gym], with a "
        "[rota|list|sign] on the door, and [towels|soap] to be [brought|shared]."
    ),
    (
        "The [intercom|lighting|sprinkler] [panel|cabinet|board] is [labelled|marked] {code} and "
        "[opened|touched] by [trained|authorised] people only, [whatever|however much] it "
        "[blinks|beeps|hums]."
    ),
    (
        "[Keys|Fobs|Codes] for the [cellar|roof|archive] are [signed|handed] out against a "
        "[deposit|signature|name], and [come|go] back [before|by] the [evening|weekend]."
    ),
    (
        "[Water|Power|Network] [cuts|interruptions|works] are [announced|posted] on the [lift "
        "door|screen|{term} list], as [early|soon] as the [utility|town|landlord] [says|tells us]."
    ),
    (
        "[Artists|Schools|Choirs] [use|borrow] the [foyer|hall|stairwell] in the [dark|quiet] "
        "[months|season], and [staff|colleagues] are [welcome|invited] to [listen|look in]."
    ),
    (
        "The [floor|site|escape] plan [beside|by] the [lift|door] is [out of date|being redrawn] since the "
        "{term} wall [went|was moved], but the [exits|extinguishers] are [where|as] it [says|shows]."
    ),
    (
        "[Furniture|Carpet|Paint|Glass] [left|spare] from the [refit|move] is [stored|stacked] in the "
        "[loft|container], and [departments|groups] may [help themselves|take pieces] after a [word|mail] to "
        "{person}."
    ),
    (
        "[Dogs|Pets|Parrots] are [allowed|tolerated] on [Fridays|the terrace|request], [provided|as long as] "
        "the [people|colleagues] [nearby|around] [agree|do not mind] and the [carpet|cable] [survives|stays "
        "dry]."
    ),
    (
        "[Sensors|Counters|Meters] [installed|hung up] by {other_team} [measure|watch] "
        "[light|air|occupancy], but [neither|never] [pictures nor voices|faces nor names]."
    ),
    (
        "The [echo|hum|rumble] in the [atrium|open-plan area|stairwell] was [reduced|tamed|softened] with "
        "[felt|curtains|baffles] that {person} [found|chose] at a [fair|sale|mill]."
    ),
    (
        "[Winter|Snow|Ice] [service|clearing] [starts|begins] [before dawn|early], [grit|salt] [stands|is "
        "kept] in [yellow|grey] [boxes|bins], and [anyone|everybody] may [use|spread] it."
    ),
    (
        "[Parking|Loading|Turning] in the [fire lane|yard|gateway] is [forbidden|punished|photographed], and "
        "the [tow truck|porter|landlord] [shows|has] [no|little] [mercy|patience]."
    ),
    (
        "A [guest|project|touch-down] [area|room|bench] with [sockets|screens|coat hooks] is [kept|held] "
        "[free|open] for [colleagues|travellers] from {office} and [elsewhere|abroad]."
    ),
    (
        "[Rubbish|Waste|Paper|Glass] is [sorted|separated] by [colour|symbol|shape], and the [chart|picture] "
        "above the [bins|containers] [settles|ends] most [debates|arguments]."
    ),
    (
        "[Rent|Lease|Service charge] [questions|talks] with the [owner|landlord|agent] are [handled|led] "
        "[centrally|quietly], so [please|kindly] [pass on|forward] [letters|bills] [unanswered|unopened]."
    ),
    (
        "The [old|former|disused] [boiler|chimney|gate|crane] is [listed|protected], [cannot|must not] be "
        "[moved|painted], and [serves|works] as a [landmark|meeting point|coat stand]."
    ),
    (
        "[Wi-Fi|Telephone reception|Daylight|Air] is [poor|thin|weak] in the [north|inner|lower] "
        "[corner|rooms], where [boosters|fans|lamps] have been [tried|hung] with [some|little] "
        "[success|effect]."
    ),
    (
        "[First-aiders|Fire wardens|Floor contacts] [wear|have] a [symbol|ribbon|star] on the "
        "[door|desk|badge lace], and [new|more] [volunteers|people] are [needed|sought] since {month}."
    ),
    (
        "[Events|Parties|Exhibitions] after [hours|work] need a [plan|sketch|host], a [word|talk] with the "
        "[neighbours|guard], and someone who [stays|sweeps] [to the end|afterwards]."
    ),
    (
        "[Maps|Leaflets|Audio guides] of {subject} in [several|other] [languages|scripts] [lie|are] at the "
        "[desk|rack], [drawn|written|spoken] by [apprentices|retired staff|students]."
    ),
    (
        "The [goods|passenger|glass] lift [may|can] be [reserved|held] for [moves|deliveries|film crews] "
        "with a [call|note] the [day|evening] before, and [protests|groans] are to be [expected|ignored]."
    ),
    (
        "[Windows|Gutters|Filters] are [seen to|looked after] [twice|once] [a year|between frosts], and "
        "[ropes|ladders|lifts] [outside|in view] [mean|signal] nothing [worse|more] than that."
    ),
    (
        "[Prayer|Nursing|Rest] room [bookings|times] are [private|discreet]; the [calendar|list] "
        "[shows|says] [busy|taken] and nothing [else|more], as [agreed|wished] in {year}."
    ),
)
