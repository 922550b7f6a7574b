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
    .options = { $name } { $item }

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
