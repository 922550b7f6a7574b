# Vad som kan hända i en match Chinchón. Hur en katalog talar om en händelse står i service/words.

card = { $rank ->
    [1] ess
    [10] knekt
    [11] riddare
    [12] kung
   *[other] { $rank }
} i { $suit ->
    [O] mynt
    [C] bägare
    [E] svärd
   *[B] stavar
}
    .between = {", "}

chinchon-staked = { $seats } lägger insatsen; i potten ligger { $pot ->
    [one] en mark
   *[other] { NUMBER($pot, useGrouping: 0) } marker
}.

chinchon-forehand_drawn = Lotten ger { $forehand } den första förhanden.

chinchon-dealt = Giv { $deal }, i denna ordning: { $order }. Upp vänds { $up }; i talongen ligger { $left ->
    [one] ett kort
   *[other] { $left } kort
}{ $stock ->
    [none] {""}
   *[other] , uppifrån: { $stock }
}.
    .hands = { $item ->
        [none] {""}
       *[other] { $seat } har { $item }.
    }

chinchon-stock_recycled = Talongen är tom: { $count ->
    [one] ett kastat kort blir
   *[other] { $count } kastade kort blandas till
} en ny{ $kept ->
    [none] {""}
   *[other] ; { $kept } ligger kvar öppet
}{ $stock ->
    [none] {""}
   *[other] . Uppifrån ligger den så: { $stock }
}.

chinchon-stock_drawn = { $seat } drar { $card ->
    [none] ett kort
   *[other] { $card }
} från talongen, { $left ->
    [0] som nu är tom
    [one] där ett kort är kvar
   *[other] där { $left } kort är kvar
}.

chinchon-up_card_taken = { $seat } tar { $card } från kasthögen.

chinchon-discarded = { $seat } kastar { $card }.

chinchon-irregular_hand = { $seat } har avslutat en tur med { $size } kort: en felaktig hand.

chinchon-turn_ended = { $seat } avslutar turen.

chinchon-closed = { $seat } stänger och lägger { $card ->
    [none] ett kort
   *[other] { $card }
} dolt.

chinchon-stock_exhausted = { $seat } väljer talongen, som är tom för gott: given är slut.

chinchon-exposure_began = { $seat } är på tur att lägga ut.

chinchon-exposed = { $seat } lägger { $combinations ->
    [none] inte ut något
   *[other] ut: { $combinations }
}{ $chinchon ->
    [true] {" – "}chinchón
   *[false] {""}
}. { $left ->
    [0] Inget kort är kvar
    [one] Ett kort är kvar
   *[other] { $left } kort är kvar
}.
    .combinations = { $item }

chinchon-lay_off_began = { $seat } får lägga till på det som { $on } har lagt ut.

chinchon-laid_off = { $seat } lägger till { $card } på en kombination som { $on } har lagt ut; där ligger nu { $combination }{ $closed ->
    [true] . Mer får tills vidare inte läggas till där
   *[false] {""}
}.

chinchon-passed = { $seat } lägger inte till något mer.

chinchon-deal_scored = Giv { $deal } är slut. Poäng: { $points }. Ställning: { $totals }.{ $chinchon ->
    [none] {""}
   *[other] {" "}Chinchón: { $chinchon }.
}{ $linked ->
    [none] {""}
   *[other] {" "}Alla kort kombinerade: { $linked }.
}
    .points = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }
    .totals = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }

chinchon-went_out = { $seats } slås ut.

chinchon-reentry_offered = { $seats } får återinträda mot en insats, med { $total } poäng.

chinchon-reentry_answered = { $seat } { $reenter ->
    [true] tackar ja till återinträde
    [false] tackar nej till återinträde
   *[none] har svarat om återinträde
}.

chinchon-reentries_closed = { $back ->
    [none] Ingen återinträder.
   *[other] Tillbaka med { $total } poäng: { $back }.
}{ $out ->
    [none] {""}
   *[other] {" "}Fortfarande ute: { $out }.
}

chinchon-pot_taken = Potten går till { $seats }; marker: { $shares }.

chinchon-opened = { $closing_cards_count ->
    [0] Det som låg dolt visas; ingen giv stängdes.
   *[other] Det som låg dolt visas.
}
    .closing_cards = { $card ->
        [none] I giv { $deal } hade { $seat } stängt med ett dolt kort.
       *[other] I giv { $deal } hade { $seat } stängt med { $card } dolt.
    }
