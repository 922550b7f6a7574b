# What can happen in a match of Chinchón. How a catalogue speaks of an event is told in service/words.

# Sota, caballo and rey go by their numbers, 10, 11 and 12, as they are printed on Spanish cards.
card = { $rank }-{ $suit ->
    [O] oros
    [C] copas
    [E] espadas
   *[B] bastos
}

chinchon-staked = { $seats_count ->
    [one] { $seats } puts
   *[other] { $seats } put
} in the stake; the pot holds { $pot ->
    [one] one token
   *[other] { NUMBER($pot, useGrouping: 0) } tokens
}.

chinchon-forehand_drawn = The lot gives { $forehand } the first forehand.

chinchon-dealt = Deal { $deal }, in this order: { $order }. The { $up } is turned up; { $left ->
    [one] one card is
   *[other] { $left } cards are
} in the stock{ $stock ->
    [none] {""}
   *[other] , from the top { $stock }
}.
    .hands = { $item ->
        [none] {""}
       *[other] { $seat } holds { $item }.
    }

chinchon-stock_recycled = The stock is empty: { $count ->
    [one] one discard is
   *[other] { $count } discards are
} shuffled into a new one{ $kept ->
    [none] {""}
   *[other] ; the { $kept } stays face up
}{ $stock ->
    [none] {""}
   *[other] . Top first it lies: { $stock }
}.

chinchon-stock_drawn = { $seat } draws { $card ->
    [none] a card
   *[other] the { $card }
} from the stock, { $left ->
    [0] which is empty now
    [one] in which one is left
   *[other] in which { $left } are left
}.

chinchon-up_card_taken = { $seat } takes the { $card } from the discards.

chinchon-discarded = { $seat } throws the { $card }.

chinchon-irregular_hand = { $seat } has ended a turn with { $size } cards: an irregular hand.

chinchon-turn_ended = { $seat } ends the turn.

chinchon-closed = { $seat } closes, { $card ->
    [none] a card
   *[other] the { $card }
} face down.

chinchon-stock_exhausted = { $seat } chooses the stock, which is empty for good: the deal is over.

chinchon-exposure_began = { $seat } is to lay out.

chinchon-exposed = { $seat } lays out { $combinations ->
    [none] nothing
   *[other] { $combinations }
}{ $chinchon ->
    [true] {": "}Chinchón
   *[false] {""}
}{ $left ->
    [0] , and has no card left
    [one] , and has one card left
   *[other] , and has { $left } cards left
}.
    .combinations = { $item }

chinchon-lay_off_began = { $seat } may lay off on what { $on } has laid out.

chinchon-laid_off = { $seat } lays the { $card } off on a combination of { $on }, now { $combination }{ $closed ->
    [true] , and may lay nothing more on it now
   *[false] {""}
}.

chinchon-passed = { $seat } lays off nothing more.

chinchon-deal_scored = Deal { $deal } is over. Points: { $points }. Totals: { $totals }.{ $chinchon ->
    [none] {""}
   *[other] {" "}Chinchón: { $chinchon }.
}{ $linked ->
    [none] {""}
   *[other] {" "}All cards combined: { $linked }.
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
    [one] { $seats } is out.
   *[other] { $seats } are out.
}

chinchon-reentry_offered = { $seats } may come back for a stake, with a total of { $total }.

chinchon-reentry_answered = { $seat } { $reenter ->
    [true] says yes to coming back
    [false] says no to coming back
   *[none] has answered whether to come back
}.

chinchon-reentries_closed = { $back ->
    [none] Nobody comes back.
   *[other] Back with a total of { $total }: { $back }.
}{ $out ->
    [none] {""}
   *[other] {" "}Staying out: { $out }.
}

chinchon-pot_taken = The pot goes to { $seats }; tokens: { $shares }.

chinchon-opened = { $closing_cards_count ->
    [0] What lay face down is shown; no deal was closed.
   *[other] What lay face down is shown.
}
    .closing_cards = { $card ->
        [none] In deal { $deal } { $seat } had closed with a card face down.
       *[other] In deal { $deal } { $seat } had closed with the { $card }.
    }
