# What can happen at any table. How a catalogue speaks of an event is told in __init__.py.

seat = seat { $number }

by = { $role ->
    [host] { $player } as host
    [arbiter] { $player } as arbiter
    [director] { $player } as director
    [clock] the clock
    [system] the service
   *[none] { $player }
}

table-created =
    { $host } opens a table of { $game } ({ $ruleset }) with { $seats ->
        [one] one seat
       *[other] { $seats } seats
    }; { $start ->
        [host] the host starts play
       *[full] play starts when the last seat is taken
    }.{ $options_count ->
        [0] {""}
       *[other] {" "}Options: { $options }.
    } The shuffles are committed to by { $commitment }.
    .options = { $name }={ $item }

table-seeded = { $seed ->
    [none] The seed of all shuffles is drawn and sealed.
   *[other] The seed of all shuffles is drawn: { $seed }.
}

table-seat_taken =
    { $player } takes seat { $seat_number }{ $nonce ->
        [none] {""}
       *[other] , with the nonce { $nonce }
    }.{ $bot ->
        [none] {""}
       *[other] {" "}It is the bot { $bot }.
    }

table-seat_left = { $player } leaves seat { $seat_number }.

table-started = Play begins with { $seats }.

table-shuffled = { $order ->
    [none] Shuffle { NUMBER($c, useGrouping: 0) } is made; its order is sealed.
   *[other] Shuffle { NUMBER($c, useGrouping: 0) } gives { $order }.
}

table-turn_began = To act: { $seats }.

table-answered = { $seat } has answered.

table-scored = Deal { $deal } gives { $points }; scores: { $scores }.
    .points = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }
    .scores = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }

table-resigned = { $seat } resigns.

table-ended = { $outcome ->
    [finished] Play has ended.
    [abandoned] The table is abandoned.
    [annulled] The table is annulled.
   *[adjudicated] The table is adjudicated.
}{ $places ->
    [none] {""}
   *[other] {" "}Places: { $places }.
}
    .places = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }

table-opened = All is opened. The seed was { $seed }.
    .orders = Shuffle { NUMBER($c, useGrouping: 0) } gave { $order }.

table-dispute_filed =
    Dispute { $dispute } is filed over { $versions ->
        [1] version { NUMBER($first, useGrouping: 0) }
       *[other] versions { NUMBER($first, useGrouping: 0) } to { NUMBER($last, useGrouping: 0) }
    }: { $reason ->
        [rules] the rules
        [conduct] conduct
        [outage] an outage
        [mistake] a mistake
       *[other] another reason
    }.

table-paused = Play is paused.

table-resumed = Play goes on.

table-looked =
    The cards of { $versions ->
        [1] version { NUMBER($first, useGrouping: 0) }
       *[other] versions { NUMBER($first, useGrouping: 0) } to { NUMBER($last, useGrouping: 0) }
    } are looked at because of dispute { $dispute }.

table-ruled =
    Dispute { $dispute } is ruled on: { $verdict ->
        [upheld] everything stands
        [corrected] the result is corrected
        [annulled] the table is annulled
       *[replayed] deal { $deal } is played again
    }.{ $scores ->
        [none] {""}
       *[other] {" "}Scores: { $scores }.
    }{ $places ->
        [none] {""}
       *[other] {" "}Places: { $places }.
    }{ $forfeits ->
        [none] {""}
       *[other] {" "}Forfeit: { $forfeits }.
    }
    .scores = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }
    .places = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }

table-deal_replayed = Deal { $deal } is dealt anew, with the shuffles of number { $number }.
