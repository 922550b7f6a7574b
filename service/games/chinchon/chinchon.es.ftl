# Lo que puede ocurrir en una partida de chinchón. Cómo habla un catálogo de un suceso se dice en service/words.

card = { $rank ->
    [1] as
    [10] sota
    [11] caballo
    [12] rey
   *[other] { $rank }
} de { $suit ->
    [O] oros
    [C] copas
    [E] espadas
   *[B] bastos
}
    .between = {", "}
    .definite = { $rank ->
        [1] el as
        [10] la sota
        [11] el caballo
        [12] el rey
       *[other] el { $rank }
    } de { $suit ->
        [O] oros
        [C] copas
        [E] espadas
       *[B] bastos
    }

chinchon-staked = { $seats_count ->
    [one] { $seats } pone
   *[other] { $seats } ponen
} la apuesta; en el bote hay { $pot ->
    [one] una ficha
   *[other] { NUMBER($pot, useGrouping: 0) } fichas
}.

chinchon-forehand_drawn = Por sorteo, en la primera ronda es mano { $forehand }.

chinchon-dealt = Ronda { $deal }, en este orden: { $order }. Se descubre { $up_definite }; en el mazo { $left ->
    [one] hay una carta
   *[other] hay { $left } cartas
}{ $stock ->
    [none] {""}
   *[other] , de arriba abajo: { $stock }
}.
    .hands = { $item ->
        [none] {""}
       *[other] { $seat } tiene { $item }.
    }

chinchon-stock_recycled = El mazo se ha acabado: { $count ->
    [one] un descarte forma
   *[other] { $count } descartes mezclados forman
} otro{ $kept ->
    [none] {""}
   *[other] ; { $kept_definite } se queda boca arriba
}{ $stock ->
    [none] {""}
   *[other] . De arriba abajo queda { $stock }
}.

chinchon-stock_drawn = { $seat } roba { $card ->
    [none] una carta
   *[other] { $card_definite }
} del mazo, { $left ->
    [0] que se queda vacío
    [one] en el que queda una
   *[other] en el que quedan { $left }
}.

chinchon-up_card_taken = { $seat } toma { $card_definite } de los descartes.

chinchon-discarded = { $seat } tira { $card_definite }.

chinchon-irregular_hand = { $seat } ha acabado un turno con { $size } cartas: mano irregular.

chinchon-turn_ended = { $seat } termina el turno.

chinchon-closed = { $seat } cierra con { $card ->
    [none] una carta
   *[other] { $card_definite }
} boca abajo.

chinchon-stock_exhausted = { $seat } elige el mazo, que se ha agotado del todo: la ronda ha terminado.

chinchon-exposure_began = Le toca bajarse a { $seat }.

chinchon-exposed = { $seat } { $combinations ->
    [none] no se baja con nada
   *[other] se baja con { $combinations }
}{ $chinchon ->
    [true] {": "}chinchón
   *[false] {""}
}. { $left ->
    [0] No le queda ninguna carta
    [one] Le queda una carta
   *[other] Le quedan { $left } cartas
}.
    .combinations = { $item }

chinchon-lay_off_began = { $seat } puede colocar cartas en las combinaciones de { $on }.

chinchon-laid_off = { $seat } coloca { $card_definite } en una combinación de { $on }, que ahora es { $combination }{ $closed ->
    [true] . De momento no puede colocar nada más en ella
   *[false] {""}
}.

chinchon-passed = { $seat } no coloca nada más.

chinchon-deal_scored = La ronda { $deal } ha terminado. Tantos: { $points }. Puntuación: { $totals }.{ $chinchon ->
    [none] {""}
   *[other] {" "}Chinchón: { $chinchon }.
}{ $linked ->
    [none] {""}
   *[other] {" "}Todas las cartas ligadas: { $linked }.
}
    .points = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }
    .totals = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }

chinchon-went_out = { $seats_count ->
    [one] { $seats } queda fuera.
   *[other] { $seats } quedan fuera.
}

chinchon-reentry_offered = { $seats_count ->
    [one] { $seats } puede reengancharse
   *[other] { $seats } pueden reengancharse
} por una apuesta, con { $total ->
    [one] { $total } tanto
   *[other] { $total } tantos
}.

chinchon-reentry_answered = { $seat } { $reenter ->
    [true] acepta el reenganche
    [false] renuncia al reenganche
   *[none] ha respondido a la oferta de reenganche
}.

chinchon-reentries_closed = { $back ->
    [none] Nadie se reengancha.
   *[other] De vuelta con { $total ->
        [one] { $total } tanto
       *[other] { $total } tantos
    }: { $back }.
}{ $out ->
    [none] {""}
   *[other] {" "}Siguen fuera: { $out }.
}

chinchon-pot_taken = El bote es para { $seats }; fichas: { $shares }.

chinchon-opened = { $closing_cards_count ->
    [0] Se muestra lo que estaba boca abajo; no se cerró ninguna ronda.
   *[other] Se muestra lo que estaba boca abajo.
}
    .closing_cards = { $card ->
        [none] En la ronda { $deal }, { $seat } había cerrado con una carta boca abajo.
       *[other] En la ronda { $deal }, { $seat } había cerrado con { $card_definite } boca abajo.
    }
