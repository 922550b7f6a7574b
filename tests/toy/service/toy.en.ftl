# What can happen in a match of Toy.

toy-first_drawn = The lot lets { $seat } lay first.

toy-dealt = Deal { $deal }; { $first } lays first.{ $hands ->
    [none] {""}
   *[other] {" "}Hands: { $hands }.
}{ $stock ->
    [none] {""}
   *[other] {" "}Stock: { $stock }.
}
    .hands = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }

toy-pledged = { $card ->
    [none] { $seat } pledges a card, face down.
   *[other] { $seat } pledges { $card }.
}

toy-shown = The pledges are { $cards }; { $best } pledged highest.
    .cards = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }

toy-laid = { $seat } lays { $cards }.

toy-held = { $seat } lays nothing.

toy-drew = { $card ->
    [none] { $seat } draws a card.
   *[other] { $seat } draws { $card }.
}

toy-deal_scored = Deal { $deal } is over. Points: { $points }. Totals: { $totals }.
    .points = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }
    .totals = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }

toy-opened = What lay face down is shown: { $pledges }.
    .pledges = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }
