# Vad som kan hända i en match Chinkway. Hur en katalog talar om en händelse står i service/words.

card = { $suit ->
    [S] ♠
    [H] ♥
    [D] ♦
   *[C] ♣
}{ $rank ->
    [T] 10
    [J] Kn
    [Q] D
    [A] E
   *[other] { $rank }
}

chinkway-dealer_drawn = Lotten gör { $dealer } till första givare.

chinkway-quest_reduced = { $cards ->
    [none] Två kort tas osedda ur uppdragsleken.
   *[other] Två kort tas ur uppdragsleken: { $cards }.
}

chinkway-quest_shuffled = { $cards ->
    [none] Uppdragsleken blandas.
   *[other] Uppdragsleken blandas; uppifrån ligger den så: { $cards }.
}

chinkway-dealt = Giv { $deal }, { $dealer } ger. Sidor: { $sides }.
    .sides = { $item }
    .hands = { $item ->
        [none] {""}
       *[other] { $seat } har { $item }.
    }

chinkway-discarded = { $cards ->
    [none] { $seat } lägger två kort dolt ur spel.
   *[other] { $seat } lägger { $cards } ur spel.
}

chinkway-declared = { $seat } väljer { $trump ->
    [S] spader som trumf
    [H] hjärter som trumf
    [D] ruter som trumf
    [C] klöver som trumf
   *[NT] sang
}.

chinkway-quest_kept = Uppdraget förblir det som vändes upp: { $cards }.

chinkway-quest_turned =
    Uppdraget är { $cards }; det kräver { $wanted_spades } spader, { $wanted_hearts } hjärter, { $wanted_diamonds } ruter, { $wanted_clubs } klöver och { $wanted_court ->
        [one] ett klätt kort
       *[other] { $wanted_court } klädda kort
    }. { $leader } spelar ut.

chinkway-played = { $seat } spelar { $card }.

chinkway-trick_taken = { $seat } tar sticket{ $choices ->
    [none] {" "}men kan inte ta något kort
   *[other] {" "}och får ta ett kort: { $choices }
}{ $needed ->
    [none] {""}
   *[other] ; { $needed } skulle uppfylla en del
}.

chinkway-captured = { $seat } tar { $card }{ $credited ->
    [none] , som inte uppfyller någon del
   *[other] , som uppfyller en del för { $credited }
}.

chinkway-declined = { $seat } avstår från att ta ett kort.

chinkway-deal_scored = Giv { $deal } är slut. Uppfyllda delar: { $parts }. Poäng: { $points }. Ställning: { $totals }.
    .parts = { $seat } { $item }
    .points = { $seat } { $item }
    .totals = { $seat } { $item }

chinkway-opened = { $removed ->
    [none] Det som låg dolt visas; inget hade tagits ur uppdragsleken.
   *[other] Det som låg dolt visas. Ur uppdragsleken hade tagits { $removed }.
}
    .discards = { $seat } hade lagt { $cards } ur spel.
