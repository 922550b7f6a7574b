# Was an jedem Tisch geschehen kann. Wie ein Katalog von einem Ereignis spricht, steht in __init__.py.

seat = Platz { $number }

by = { $role ->
    [host] { $player } (Tischleitung)
    [arbiter] { $player } (Schiedsgericht)
    [director] { $player } (Turnierleitung)
    [clock] die Uhr
    [system] der Dienst
   *[none] { $player }
}

table-created =
    { $host } eröffnet einen Tisch für { $game } ({ $ruleset }) mit { $seats ->
        [one] einem Platz
       *[other] { $seats } Plätzen
    }; gespielt wird, sobald { $start ->
        [host] { $host } das Spiel beginnen lässt
       *[full] der letzte Platz besetzt ist
    }.{ $options_count ->
        [0] {""}
       *[other] {" "}Optionen: { $options }.
    } Auf alle Mischungen legt sich im Voraus fest: { $commitment }.
    .options = { $name }={ $item }

table-seeded = { $seed ->
    [none] Der Startwert aller Mischungen ist gezogen und versiegelt.
   *[other] Der Startwert aller Mischungen ist gezogen: { $seed }.
}

table-seat_taken =
    { $player } nimmt Platz { $seat_number } ein{ $nonce ->
        [none] {""}
       *[other] , mit der Nonce { $nonce }
    }.{ $bot ->
        [none] {""}
       *[other] {" "}Es ist der Bot { $bot }.
    }

table-seat_left = { $player } verlässt Platz { $seat_number }.

table-started = Das Spiel beginnt mit { $seats }.

table-shuffled = { $order ->
    [none] Mischung { NUMBER($c, useGrouping: 0) } ist gemacht; ihre Reihenfolge ist versiegelt.
   *[other] Mischung { NUMBER($c, useGrouping: 0) } ergibt { $order }.
}

table-turn_began = Am Zug: { $seats }.

table-answered = { $seat } hat geantwortet.

table-scored = Runde { $deal } bringt: { $points }. Punktestand: { $scores }.
    .points = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }
    .scores = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }

table-resigned = { $seat } gibt auf.

table-ended = { $outcome ->
    [finished] Das Spiel ist zu Ende.
    [abandoned] Der Tisch ist aufgegeben.
    [annulled] Der Tisch ist annulliert.
   *[adjudicated] Über den Tisch ist entschieden.
}{ $places ->
    [none] {""}
   *[other] {" "}Platzierung: { $places }.
}
    .places = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }

table-opened = Alles ist aufgedeckt. Der Startwert war { $seed }.
    .orders = Mischung { NUMBER($c, useGrouping: 0) } ergab { $order }.

table-dispute_filed =
    Einspruch { $dispute } gegen { $versions ->
        [1] die Version { NUMBER($first, useGrouping: 0) }
       *[other] die Versionen { NUMBER($first, useGrouping: 0) } bis { NUMBER($last, useGrouping: 0) }
    } ist eingelegt: { $reason ->
        [rules] Regeln
        [conduct] Verhalten
        [outage] Ausfall
        [mistake] Irrtum
       *[other] anderer Grund
    }.

table-paused = Das Spiel ist angehalten.

table-resumed = Das Spiel geht weiter.

table-looked =
    Wegen Einspruch { $dispute } werden die Karten { $versions ->
        [1] der Version { NUMBER($first, useGrouping: 0) }
       *[other] der Versionen { NUMBER($first, useGrouping: 0) } bis { NUMBER($last, useGrouping: 0) }
    } eingesehen.

table-ruled =
    Über Einspruch { $dispute } ist entschieden: { $verdict ->
        [upheld] Alles bleibt, wie es ist
        [corrected] Das Ergebnis wird berichtigt
        [annulled] Der Tisch wird annulliert
       *[replayed] Runde { $deal } wird noch einmal gespielt
    }.{ $scores ->
        [none] {""}
       *[other] {" "}Punktestand: { $scores }.
    }{ $places ->
        [none] {""}
       *[other] {" "}Platzierung: { $places }.
    }{ $forfeits ->
        [none] {""}
       *[other] {" "}Verloren gewertet für: { $forfeits }.
    }
    .scores = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }
    .places = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }

table-deal_replayed = Runde { $deal } wird neu gegeben, mit den Mischungen der Nummer { $number }.
