# Was in einer Partie Chinchón geschehen kann. Wie ein Katalog von einem Ereignis spricht, steht in service/words.

card = { $suit ->
    [O] Münzen
    [C] Kelche
    [E] Schwerter
   *[B] Stäbe
}-{ $rank ->
    [1] Ass
    [10] Bube
    [11] Reiter
    [12] König
   *[other] { $rank }
}
    .between = {", "}
    .accusative = { $rank ->
        [1] das
        [10] den
        [11] den
        [12] den
       *[other] die
    } { $suit ->
        [O] Münzen
        [C] Kelche
        [E] Schwerter
       *[B] Stäbe
    }-{ $rank ->
        [1] Ass
        [10] Buben
        [11] Reiter
        [12] König
       *[other] { $rank }
    }

chinchon-staked = { $seats_count ->
    [one] { $seats } zahlt
   *[other] { $seats } zahlen
} den Einsatz; im Topf { $pot ->
    [one] liegt eine Marke
   *[other] liegen { NUMBER($pot, useGrouping: 0) } Marken
}.

chinchon-forehand_drawn = Laut Los hat { $forehand } die erste Vorhand.

chinchon-dealt = Runde { $deal }, in dieser Reihenfolge: { $order }. Aufgedeckt wird { $up }; im Stapel { $left ->
    [one] liegt eine Karte
   *[other] liegen { $left } Karten
}{ $stock ->
    [none] {""}
   *[other] , von oben: { $stock }
}.
    .hands = { $item ->
        [none] {""}
       *[other] { $seat } hat { $item }.
    }

chinchon-stock_recycled = Der Stapel ist leer: { $count ->
    [one] Eine abgeworfene Karte wird zum neuen Stapel
   *[other] { $count } abgeworfene Karten werden zu einem neuen gemischt
}{ $kept ->
    [none] {""}
   *[other] ; { $kept } bleibt aufgedeckt liegen
}{ $stock ->
    [none] {""}
   *[other] . Von oben liegt er so: { $stock }
}.

chinchon-stock_drawn = { $seat } zieht { $card ->
    [none] eine Karte
   *[other] { $card_accusative }
} vom Stapel, { $left ->
    [0] der nun leer ist
    [one] in dem noch eine liegt
   *[other] in dem noch { $left } liegen
}.

chinchon-up_card_taken = { $seat } nimmt { $card_accusative } vom Abwerfstapel.

chinchon-discarded = { $seat } wirft { $card_accusative } ab.

chinchon-irregular_hand = { $seat } hat einen Zug mit { $size } Karten beendet: eine fehlerhafte Hand.

chinchon-turn_ended = { $seat } beendet den Zug.

chinchon-closed = { $seat } schließt ab und legt { $card ->
    [none] eine Karte
   *[other] { $card_accusative }
} verdeckt hin.

chinchon-stock_exhausted = { $seat } wählt den Stapel, der endgültig leer ist: Die Runde ist zu Ende.

chinchon-exposure_began = { $seat } ist mit dem Auslegen an der Reihe.

chinchon-exposed = { $seat } legt { $combinations ->
    [none] nichts aus
   *[other] aus: { $combinations }
}{ $chinchon ->
    [true] {" – "}Chinchón
   *[false] {""}
}. { $left ->
    [0] Keine Karte bleibt
    [one] Eine Karte bleibt
   *[other] { $left } Karten bleiben
} übrig.
    .combinations = { $item }

chinchon-lay_off_began = { $seat } darf an die Kombinationen von { $on } anlegen.

chinchon-laid_off = { $seat } legt { $card_accusative } an eine Kombination von { $on } an; dort liegt jetzt { $combination }{ $closed ->
    [true] . Mehr darf dort vorerst nicht angelegt werden
   *[false] {""}
}.

chinchon-passed = { $seat } legt nichts mehr an.

chinchon-deal_scored = Runde { $deal } ist zu Ende. Punkte: { $points }. Punktestand: { $totals }.{ $chinchon ->
    [none] {""}
   *[other] {" "}Chinchón: { $chinchon }.
}{ $linked ->
    [none] {""}
   *[other] {" "}Alle Karten kombiniert: { $linked }.
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
    [one] { $seats } scheidet aus.
   *[other] { $seats } scheiden aus.
}

chinchon-reentry_offered = { $seats_count ->
    [one] { $seats } darf
   *[other] { $seats } dürfen
} für einen Einsatz wieder einsteigen, mit { $total ->
    [one] { $total } Punkt
   *[other] { $total } Punkten
}.

chinchon-reentry_answered = { $seat } { $reenter ->
    [true] will wieder einsteigen
    [false] will nicht wieder einsteigen
   *[none] hat gesagt, ob der Wiedereinstieg gewünscht ist
}.

chinchon-reentries_closed = { $back ->
    [none] Niemand steigt wieder ein.
   *[other] Wieder dabei mit { $total ->
        [one] { $total } Punkt
       *[other] { $total } Punkten
    }: { $back }.
}{ $out ->
    [none] {""}
   *[other] {" "}Weiter ausgeschieden: { $out }.
}

chinchon-pot_taken = Der Topf geht an { $seats }; Marken: { $shares }.

chinchon-opened = { $closing_cards_count ->
    [0] Was verdeckt lag, wird gezeigt; keine Runde wurde abgeschlossen.
   *[other] Was verdeckt lag, wird gezeigt.
}
    .closing_cards = { $card ->
        [none] In Runde { $deal } hatte { $seat } mit einer verdeckten Karte abgeschlossen.
       *[other] In Runde { $deal } hatte { $seat } abgeschlossen und { $card_accusative } verdeckt hingelegt.
    }
