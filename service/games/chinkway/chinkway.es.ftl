# Lo que puede ocurrir en una partida de Chinkway. Cómo habla un catálogo de un suceso se dice en service/words.

card = { $suit ->
    [S] ♠
    [H] ♥
    [D] ♦
   *[C] ♣
}{ $rank ->
    [T] 10
    [Q] D
    [K] R
   *[other] { $rank }
}

chinkway-dealer_drawn = Por sorteo, la primera ronda la reparte { $dealer }.

chinkway-quest_reduced = { $cards ->
    [none] Dos cartas salen de la baraja de búsqueda sin que nadie las vea.
   *[other] Dos cartas salen de la baraja de búsqueda: { $cards }.
}

chinkway-quest_shuffled = { $cards ->
    [none] Se mezcla la baraja de búsqueda.
   *[other] Se mezcla la baraja de búsqueda; de arriba abajo queda { $cards }.
}

chinkway-dealt = Ronda { $deal }, reparte { $dealer }. Bandos: { $sides }.
    .sides = { $item }
    .hands = { $item ->
        [none] {""}
       *[other] { $seat } tiene { $item }.
    }

chinkway-discarded = { $cards ->
    [none] { $seat } aparta dos cartas boca abajo.
   *[other] { $seat } aparta { $cards }.
}

chinkway-declared = { $seat } declara { $trump ->
    [S] triunfo de picas
    [H] triunfo de corazones
    [D] triunfo de diamantes
    [C] triunfo de tréboles
   *[NT] sin triunfo
}.

chinkway-quest_kept = La búsqueda queda como se descubrió: { $cards }.

chinkway-quest_turned =
    La búsqueda es { $cards }; pide { $wanted_spades ->
        [one] una pica
       *[other] { $wanted_spades } picas
    }, { $wanted_hearts ->
        [one] un corazón
       *[other] { $wanted_hearts } corazones
    }, { $wanted_diamonds ->
        [one] un diamante
       *[other] { $wanted_diamonds } diamantes
    }, { $wanted_clubs ->
        [one] un trébol
       *[other] { $wanted_clubs } tréboles
    } y { $wanted_court ->
        [one] una figura
       *[other] { $wanted_court } figuras
    }. Sale { $leader }.

chinkway-played = { $seat } juega { $card }.

chinkway-trick_taken = { $seat } gana la baza{ $choices ->
    [none] {" "}y no puede capturar nada
   *[other] {" "}y puede capturar una carta: { $choices }
}{ $needed_count ->
    [0] {""}
    [one] ; { $needed } cumpliría una parte
   *[other] ; { $needed } cumplirían una parte
}.

chinkway-captured = { $seat } captura { $card }{ $credited ->
    [none] , que no cumple ninguna parte
   *[other] , que cumple una parte para { $credited }
}.

chinkway-declined = { $seat } renuncia a capturar.

chinkway-deal_scored = La ronda { $deal } ha terminado. Partes cumplidas: { $parts }. Tantos: { $points }. Puntuación: { $totals }.
    .parts = { $seat } { $item }
    .points = { $seat } { $item }
    .totals = { $seat } { $item }

chinkway-opened = { $removed ->
    [none] Se muestra lo que estaba boca abajo; de la baraja de búsqueda no se había quitado nada.
   *[other] Se muestra lo que estaba boca abajo. De la baraja de búsqueda se habían quitado { $removed }.
}
    .discards = { $seat } había apartado { $cards }.
