# What can happen in a match of Chinkway. How a catalogue speaks of an event is told in service/words.

card = { $suit ->
    [S] ♠
    [H] ♥
    [D] ♦
   *[C] ♣
}{ $rank ->
    [T] 10
   *[other] { $rank }
}

chinkway-dealer_drawn = The lot makes { $dealer } the first dealer.

chinkway-quest_reduced = { $cards ->
    [none] Two cards leave the quest pack unseen.
   *[other] Two cards leave the quest pack: { $cards }.
}

chinkway-quest_shuffled = { $cards ->
    [none] The quest pack is shuffled.
   *[other] The quest pack is shuffled; from the top it lies { $cards }.
}

chinkway-dealt = Deal { $deal }, dealt by { $dealer }. Sides: { $sides }.
    .sides = { $item }
    .hands = { $item ->
        [none] {""}
       *[other] { $seat } holds { $item }.
    }

chinkway-discarded = { $cards ->
    [none] { $seat } lays two cards out of play, face down.
   *[other] { $seat } lays { $cards } out of play.
}

chinkway-declared = { $seat } declares { $trump ->
    [S] spades trumps
    [H] hearts trumps
    [D] diamonds trumps
    [C] clubs trumps
   *[NT] no trumps
}.

chinkway-quest_kept = The quest stays as it was turned: { $cards }.

chinkway-quest_turned =
    The quest is { $cards }; it wants { $wanted_spades ->
        [one] one spade
       *[other] { $wanted_spades } spades
    }, { $wanted_hearts ->
        [one] one heart
       *[other] { $wanted_hearts } hearts
    }, { $wanted_diamonds ->
        [one] one diamond
       *[other] { $wanted_diamonds } diamonds
    }, { $wanted_clubs ->
        [one] one club
       *[other] { $wanted_clubs } clubs
    } and { $wanted_court ->
        [one] one court card
       *[other] { $wanted_court } court cards
    }. { $leader } leads.

chinkway-played = { $seat } plays { $card }.

chinkway-trick_taken = { $seat } takes the trick{ $choices ->
    [none] {" "}and can capture nothing
   *[other] {" "}and may capture { $choices }
}{ $needed ->
    [none] {""}
   *[other] ; { $needed } would meet a part
}.

chinkway-captured = { $seat } captures { $card }{ $credited ->
    [none] , which meets no part
   *[other] , which meets a part for { $credited }
}.

chinkway-declined = { $seat } captures nothing.

chinkway-deal_scored = Deal { $deal } is over. Parts met: { $parts }. Points: { $points }. Totals: { $totals }.
    .parts = { $seat } { $item }
    .points = { $seat } { $item }
    .totals = { $seat } { $item }

chinkway-opened = { $removed ->
    [none] What lay face down is shown; nothing was taken out of the quest pack.
   *[other] What lay face down is shown. Out of the quest pack: { $removed }.
}
    .discards = { $seat } had laid { $cards } out of play.
