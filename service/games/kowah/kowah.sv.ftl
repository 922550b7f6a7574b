# Vad som kan hända i en match Kowah. Hur en katalog talar om en händelse står i service/words.

card = { $card ->
    [OT] Gamla Tusen
    [RF] Röd Blomma
    [WF] Vit Blomma
   *[other] { $rank } i { $suit ->
        [C] mynt
        [S] strängar
       *[M] myriader
    }
}
    .between = {", "}

kowah-first_drawn = Lotten låter { $first } börja.

kowah-dealt = Giv { $deal }. Turordningen är { $order }. I talongen ligger { $left ->
    [one] ett kort
   *[other] { $left } kort
}.
    .hands = { $item ->
        [none] {""}
       *[other] { $seat } har { $item }.
    }

kowah-stock_drawn = { $seat } drar { $card ->
    [none] ett kort
   *[other] { $card }
}; { $left ->
    [0] talongen är tom
    [one] ett kort är kvar i talongen
   *[other] { $left } kort är kvar i talongen
}.

kowah-stock_turned = { $seat } drar { $card } öppet; { $left ->
    [0] talongen är tom
    [one] ett kort är kvar i talongen
   *[other] { $left } kort är kvar i talongen
}.

kowah-discard_taken = { $seat } tar { $card } från kasthögen.

kowah-discarded = { $seat } kastar { $card }.

kowah-declared = { $seat } deklarerar redo (checki) och väntar på { $kind }{ $waits_count ->
    [0] {""}
    [1] {""}
   *[other] ; { $waits } skulle vinna
}.{ $hand ->
    [none] {""}
   *[other] {" "}Handen är { $hand }.
}

kowah-won = { $how ->
    [self_draw] { $seat } vinner på eget drag, { $card }: trippel.
    [opponent_draw] { $seat } vinner på { $card }, som { $by } drog: enkel.
   *[opponent_discard] { $seat } vinner på { $card }, som { $by } kastade: dubbel.
}

kowah-stock_ended = Talongen är slut, och ingen har vunnit.

kowah-deal_scored = { $winner ->
    [none] Giv { $deal } slutar oavgjort.
   *[other] Giv { $deal } vinns av { $winner }, multiplikator { $multiplier }.
}

kowah-opened = Det som var dolt visas: händerna vid slutet av { $hands_count ->
    [one] given
   *[other] var och en av { $hands_count } givar
}.
    .hands = Giv { $deal }: { $hands }.
    .hands_hands = { $item ->
        [none] {""}
       *[other] { $seat } hade { $item }
    }
