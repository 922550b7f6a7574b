# Was in einer Partie Chinkway geschehen kann. Wie ein Katalog von einem Ereignis spricht, steht in service/words.

card = { $suit ->
    [S] ♠
    [H] ♥
    [D] ♦
   *[C] ♣
}{ $rank ->
    [T] 10
    [J] B
    [Q] D
   *[other] { $rank }
}

chinkway-dealer_drawn = Laut Los gibt { $dealer } zuerst.

chinkway-quest_reduced = { $cards ->
    [none] Zwei Karten kommen ungesehen aus dem Queststapel.
   *[other] Zwei Karten kommen aus dem Queststapel: { $cards }.
}

chinkway-quest_shuffled = { $cards ->
    [none] Der Queststapel wird gemischt.
   *[other] Der Queststapel wird gemischt; von oben liegt er so: { $cards }.
}

chinkway-dealt = Runde { $deal }, es gibt { $dealer }. Parteien: { $sides }.
    .sides = { $item }
    .hands = { $item ->
        [none] {""}
       *[other] { $seat } hat { $item }.
    }

chinkway-discarded = { $cards ->
    [none] { $seat } legt zwei Karten verdeckt aus dem Spiel.
   *[other] { $seat } legt { $cards } aus dem Spiel.
}

chinkway-declared = { $seat } sagt { $trump ->
    [S] Pik als Trumpf
    [H] Herz als Trumpf
    [D] Karo als Trumpf
    [C] Kreuz als Trumpf
   *[NT] ohne Trumpf
} an.

chinkway-quest_kept = Die Quest bleibt, wie sie aufgedeckt wurde: { $cards }.

chinkway-quest_turned =
    Die Quest ist { $cards }; verlangt sind { $wanted_spades } Pik, { $wanted_hearts } Herz, { $wanted_diamonds } Karo, { $wanted_clubs } Kreuz und { $wanted_court ->
        [one] eine Bildkarte
       *[other] { $wanted_court } Bildkarten
    }. { $leader } spielt aus.

chinkway-played = { $seat } spielt { $card }.

chinkway-trick_taken = { $seat } macht den Stich{ $choices ->
    [none] {" "}und kann nichts nehmen
   *[other] {" "}und darf eine Karte nehmen: { $choices }
}{ $needed_count ->
    [0] {""}
    [one] ; einen Teil erfüllen würde { $needed }
   *[other] ; einen Teil erfüllen würden { $needed }
}.

chinkway-captured = { $seat } nimmt { $card }{ $credited ->
    [none] ; das erfüllt keinen Teil
   *[other] ; das erfüllt einen Teil für { $credited }
}.

chinkway-declined = { $seat } verzichtet aufs Nehmen.

chinkway-deal_scored = Runde { $deal } ist zu Ende. Erfüllte Teile: { $parts }. Punkte: { $points }. Punktestand: { $totals }.
    .parts = { $seat } { $item }
    .points = { $seat } { $item }
    .totals = { $seat } { $item }

chinkway-opened = { $removed ->
    [none] Was verdeckt lag, wird gezeigt; aus dem Queststapel war nichts genommen worden.
   *[other] Was verdeckt lag, wird gezeigt. Aus dem Queststapel genommen: { $removed }.
}
    .discards = { $seat } hatte { $cards } aus dem Spiel gelegt.
