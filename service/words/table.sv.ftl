# Vad som kan hända vid vilket bord som helst. Hur en katalog talar om en händelse står i __init__.py.

seat = plats { $number }

by = { $role ->
    [host] { $player } (bordsvärd)
    [arbiter] { $player } (domare)
    [director] { $player } (turneringsledare)
    [clock] klockan
    [system] tjänsten
   *[none] { $player }
}

table-created =
    { $host } öppnar ett bord för { $game } ({ $ruleset }) med { $seats ->
        [one] en plats
       *[other] { $seats } platser
    }; spelet börjar när { $start ->
        [host] { $host } startar det
       *[full] den sista platsen är tagen
    }.{ $options_count ->
        [0] {""}
       *[other] {" "}Alternativ: { $options }.
    } Alla blandningar är bundna på förhand av { $commitment }.
    .options = { $name }={ $item }

table-seeded = { $seed ->
    [none] Fröet till alla blandningar är draget och förseglat.
   *[other] Fröet till alla blandningar är draget: { $seed }.
}

table-seat_taken =
    { $player } tar plats { $seat_number }{ $nonce ->
        [none] {""}
       *[other] , med engångsordet { $nonce }
    }.{ $bot ->
        [none] {""}
       *[other] {" "}Det är boten { $bot }.
    }

table-seat_left = { $player } lämnar plats { $seat_number }.

table-started = Spelet börjar med { $seats }.

table-shuffled = { $order ->
    [none] Blandning { NUMBER($c, useGrouping: 0) } är gjord; dess ordning är förseglad.
   *[other] Blandning { NUMBER($c, useGrouping: 0) } ger { $order }.
}

table-turn_began = På tur: { $seats }.

table-answered = { $seat } har svarat.

table-scored = Giv { $deal } ger: { $points }. Ställning: { $scores }.
    .points = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }
    .scores = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }

table-resigned = { $seat } ger upp.

table-ended = { $outcome ->
    [finished] Spelet är slut.
    [abandoned] Bordet är övergivet.
    [annulled] Bordet är annullerat.
   *[adjudicated] Bordet är avdömt.
}{ $places ->
    [none] {""}
   *[other] {" "}Placering: { $places }.
}
    .places = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }

table-opened = Allt är öppnat. Fröet var { $seed }.
    .orders = Blandning { NUMBER($c, useGrouping: 0) } gav { $order }.

table-dispute_filed =
    Protest { $dispute } mot { $versions ->
        [1] version { NUMBER($first, useGrouping: 0) }
       *[other] versionerna { NUMBER($first, useGrouping: 0) } till { NUMBER($last, useGrouping: 0) }
    } är inlämnad: { $reason ->
        [rules] reglerna
        [conduct] uppträdande
        [outage] avbrott
        [mistake] misstag
       *[other] annat skäl
    }.

table-paused = Spelet är pausat.

table-resumed = Spelet går vidare.

table-looked =
    Korten i { $versions ->
        [1] version { NUMBER($first, useGrouping: 0) }
       *[other] versionerna { NUMBER($first, useGrouping: 0) } till { NUMBER($last, useGrouping: 0) }
    } granskas för protest { $dispute }.

table-ruled =
    Protest { $dispute } är avgjord: { $verdict ->
        [upheld] allt står fast
        [corrected] resultatet rättas
        [annulled] bordet annulleras
       *[replayed] giv { $deal } spelas om
    }.{ $scores ->
        [none] {""}
       *[other] {" "}Ställning: { $scores }.
    }{ $places ->
        [none] {""}
       *[other] {" "}Placering: { $places }.
    }{ $forfeits ->
        [none] {""}
       *[other] {" "}Räknas som uppgivet för: { $forfeits }.
    }
    .scores = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }
    .places = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }

table-deal_replayed = Giv { $deal } ges på nytt, med blandningarna av nummer { $number }.
