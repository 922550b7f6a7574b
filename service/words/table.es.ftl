# Lo que puede ocurrir en cualquier mesa. Cómo habla un catálogo de un suceso se dice en __init__.py.

seat = asiento { $number }

by = { $role ->
    [host] { $player } (dirige la mesa)
    [arbiter] { $player } (arbitra)
    [director] { $player } (dirige el torneo)
    [clock] el reloj
    [system] el servicio
   *[none] { $player }
}

table-created =
    { $host } abre una mesa de { $game } ({ $ruleset }) con { $seats ->
        [one] un asiento
       *[other] { $seats } asientos
    }; el juego empieza cuando { $start ->
        [host] lo decida { $host }
       *[full] se ocupe el último asiento
    }.{ $options_count ->
        [0] {""}
       *[other] {" "}Opciones: { $options }.
    } Compromiso de todas las mezclas: { $commitment }.
    .options = { $name }={ $item }

table-seeded = { $seed ->
    [none] La semilla de todas las mezclas se ha sacado y queda sellada.
   *[other] La semilla de todas las mezclas se ha sacado: { $seed }.
}

table-seat_taken =
    { $player } ocupa el asiento { $seat_number }{ $nonce ->
        [none] {""}
       *[other] , con el nonce { $nonce }
    }.{ $bot ->
        [none] {""}
       *[other] {" "}Es el bot { $bot }.
    }

table-seat_left = { $player } deja el asiento { $seat_number }.

table-started = El juego empieza con { $seats }.

table-shuffled = { $order ->
    [none] La mezcla { NUMBER($c, useGrouping: 0) } está hecha; su orden queda sellado.
   *[other] La mezcla { NUMBER($c, useGrouping: 0) } da { $order }.
}

table-turn_began = Turno de { $seats }.

table-answered = { $seat } ha respondido.

table-scored = La ronda { $deal } da: { $points }. Puntuación: { $scores }.
    .points = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }
    .scores = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }

table-resigned = { $seat } se rinde.

table-ended = { $outcome ->
    [finished] El juego ha terminado.
    [abandoned] La mesa se ha abandonado.
    [annulled] La mesa se ha anulado.
   *[adjudicated] La mesa se ha decidido por arbitraje.
}{ $places ->
    [none] {""}
   *[other] {" "}Puestos: { $places }.
}
    .places = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }

table-opened = Todo queda a la vista. La semilla era { $seed }.
    .orders = La mezcla { NUMBER($c, useGrouping: 0) } dio { $order }.

table-dispute_filed =
    Se presenta la reclamación { $dispute } sobre { $versions ->
        [1] la versión { NUMBER($first, useGrouping: 0) }
       *[other] las versiones { NUMBER($first, useGrouping: 0) } a { NUMBER($last, useGrouping: 0) }
    }: { $reason ->
        [rules] las reglas
        [conduct] la conducta
        [outage] una interrupción
        [mistake] un error
       *[other] otro motivo
    }.

table-paused = El juego está en pausa.

table-resumed = El juego continúa.

table-looked =
    Por la reclamación { $dispute } se examinan las cartas de { $versions ->
        [1] la versión { NUMBER($first, useGrouping: 0) }
       *[other] las versiones { NUMBER($first, useGrouping: 0) } a { NUMBER($last, useGrouping: 0) }
    }.

table-ruled =
    Se resuelve la reclamación { $dispute }: { $verdict ->
        [upheld] todo queda como está
        [corrected] se corrige el resultado
        [annulled] se anula la mesa
       *[replayed] se repite la ronda { $deal }
    }.{ $scores ->
        [none] {""}
       *[other] {" "}Puntuación: { $scores }.
    }{ $places ->
        [none] {""}
       *[other] {" "}Puestos: { $places }.
    }{ $forfeits ->
        [none] {""}
       *[other] {" "}Partida perdida para: { $forfeits }.
    }
    .scores = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }
    .places = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }

table-deal_replayed = La ronda { $deal } se reparte de nuevo, con las mezclas del número { $number }.
