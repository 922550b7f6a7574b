# Lo que puede ocurrir en una partida de Kowah. Cómo habla un catálogo de un suceso se dice en service/words.

card = { $card ->
    [OT] Viejo Millar
    [RF] Flor Roja
    [WF] Flor Blanca
   *[other] { $rank } de { $suit ->
        [C] monedas
        [S] sartas
       *[M] miríadas
    }
}
    .between = {", "}
    .definite = { $card ->
        [OT] el Viejo Millar
        [RF] la Flor Roja
        [WF] la Flor Blanca
       *[other] el { $rank } de { $suit ->
            [C] monedas
            [S] sartas
           *[M] miríadas
        }
    }

kowah-first_drawn = Por sorteo empieza { $first }.

kowah-dealt = Ronda { $deal }. Orden de los turnos: { $order }. En el mazo hay { $left ->
    [one] una carta
   *[other] { $left } cartas
}.
    .hands = { $item ->
        [none] {""}
       *[other] { $seat } tiene { $item }.
    }

kowah-stock_drawn = { $seat } roba { $card ->
    [none] una carta
   *[other] { $card_definite }
}; en el mazo { $left ->
    [0] no queda ninguna
    [one] queda una
   *[other] quedan { $left }
}.

kowah-stock_turned = { $seat } roba { $card_definite } a la vista de todos; en el mazo { $left ->
    [0] no queda ninguna
    [one] queda una
   *[other] quedan { $left }
}.

kowah-discard_taken = { $seat } toma { $card_definite } de los descartes.

kowah-discarded = { $seat } tira { $card_definite }.

kowah-declared = { $seat } declara checki y espera { $kind_definite }{ $waits_count ->
    [0] {""}
    [1] {""}
   *[other] ; ganaría cualquiera de estas: { $waits }
}.{ $hand ->
    [none] {""}
   *[other] {" "}Sus cartas son { $hand }.
}

kowah-won = { $how ->
    [self_draw] { $seat } roba { $card_definite } y gana: triple.
    [opponent_draw] { $by } roba { $card_definite } y gana { $seat }: simple.
   *[opponent_discard] { $by } tira { $card_definite } y gana { $seat }: doble.
}

kowah-stock_ended = El mazo se ha acabado y nadie ha ganado.

kowah-deal_scored = { $winner ->
    [none] La ronda { $deal } queda en empate.
   *[other] La ronda { $deal } es para { $winner }, multiplicador { $multiplier }.
}

kowah-opened = Se muestra lo que estaba oculto: las cartas al final de { $hands_count ->
    [one] la ronda
   *[other] cada una de las { $hands_count } rondas
}.
    .hands = Ronda { $deal }: { $hands }.
    .hands_hands = { $item ->
        [none] {""}
       *[other] { $seat } tenía { $item }
    }
