# What can happen in a match of Kowah. How a catalogue speaks of an event is told in service/words.

card = { $card ->
    [OT] Old-Thousand
    [RF] Red-Flower
    [WF] White-Flower
   *[other] { $rank }-{ $suit ->
        [C] coins
        [S] strings
       *[M] myriads
    }
}

kowah-first_drawn = The lot makes { $first } play first.

kowah-dealt = Deal { $deal }. Turns go { $order }. In the stock { $left ->
    [one] is one card
   *[other] are { $left } cards
}.
    .hands = { $item ->
        [none] {""}
       *[other] { $seat } holds { $item }.
    }

kowah-stock_drawn = { $card ->
    [none] { $seat } draws a card
   *[other] { $seat } draws { $card }
}; { $left } left in the stock.

kowah-stock_turned = { $seat } draws { $card } for all to see; { $left } left in the stock.

kowah-discard_taken = { $seat } takes { $card }.

kowah-discarded = { $seat } throws { $card }.

kowah-declared = { $seat } declares checki and waits for { $kind }{ $waits_count ->
    [0] {""}
    [1] {""}
   *[other] ; { $waits } would win
}.{ $hand ->
    [none] {""}
   *[other] {" "}The hand is { $hand }.
}

kowah-won = { $how ->
    [self_draw] { $seat } wins by drawing { $card }: triple.
    [opponent_draw] { $seat } wins by { $card }, which { $by } drew: single.
   *[opponent_discard] { $seat } wins by { $card }, which { $by } threw: double.
}

kowah-stock_ended = The stock has ended, and nobody has won.

kowah-deal_scored = { $winner ->
    [none] Deal { $deal } is drawn.
   *[other] Deal { $deal } goes to { $winner }, times { $multiplier }.
}

kowah-opened = What was hidden is shown: the hands that { $hands_count ->
    [one] the deal
   *[other] each of { $hands_count } deals
} left.
    .hands = Deal { $deal }: { $hands }.
    .hands_hands = { $item ->
        [none] {""}
       *[other] { $seat } held { $item }
    }
