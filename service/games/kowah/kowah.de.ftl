# Was in einer Partie Kowah geschehen kann. Wie ein Katalog von einem Ereignis spricht, steht in service/words.

card = { $card ->
    [OT] Alte Tausend
    [RF] Rote Blume
    [WF] Weiße Blume
   *[other] { $suit ->
        [C] Münzen
        [S] Schnüre
       *[M] Myriaden
    }-{ $rank }
}
    .between = {", "}

kowah-first_drawn = Laut Los beginnt { $first }.

kowah-dealt = Runde { $deal }. Die Züge gehen reihum: { $order }. Im Stapel { $left ->
    [one] liegt eine Karte
   *[other] liegen { $left } Karten
}.
    .hands = { $item ->
        [none] {""}
       *[other] { $seat } hat { $item }.
    }

kowah-stock_drawn = { $seat } zieht { $card ->
    [none] eine Karte
   *[other] die { $card }
}; im Stapel { $left ->
    [0] liegt keine mehr
    [one] liegt noch eine
   *[other] liegen noch { $left }
}.

kowah-stock_turned = { $seat } zieht offen die { $card }; im Stapel { $left ->
    [0] liegt keine mehr
    [one] liegt noch eine
   *[other] liegen noch { $left }
}.

kowah-discard_taken = { $seat } nimmt die { $card } vom Abwerfstapel.

kowah-discarded = { $seat } wirft die { $card } ab.

kowah-declared = { $seat } meldet sich bereit (Checki) und wartet auf die { $kind }{ $waits_count ->
    [0] {""}
    [1] {""}
   *[other] ; gewinnen würden { $waits }
}.{ $hand ->
    [none] {""}
   *[other] {" "}Die Hand: { $hand }.
}

kowah-won = { $how ->
    [self_draw] { $seat } zieht selbst die { $card } und gewinnt dreifach.
    [opponent_draw] { $by } zieht die { $card }, und damit gewinnt { $seat } einfach.
   *[opponent_discard] { $by } wirft die { $card } ab, und damit gewinnt { $seat } doppelt.
}

kowah-stock_ended = Der Stapel ist aufgebraucht, und niemand hat gewonnen.

kowah-deal_scored = { $winner ->
    [none] Runde { $deal } endet unentschieden.
   *[other] Runde { $deal } gewinnt { $winner }, Faktor { $multiplier }.
}

kowah-opened = Was verborgen war, wird gezeigt: die Hände am Ende { $hands_count ->
    [one] der Runde
   *[other] jeder der { $hands_count } Runden
}.
    .hands = Runde { $deal }: { $hands }.
    .hands_hands = { $item ->
        [none] {""}
       *[other] { $seat } hatte { $item }
    }
