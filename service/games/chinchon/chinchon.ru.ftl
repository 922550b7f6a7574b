# Что может случиться в игре чинчон. Как каталог говорит о событии, сказано в service/words.

card = { $rank ->
    [1] туз
    [10] валет
    [11] всадник
    [12] король
   *[other] { $rank }
} { $suit ->
    [O] монет
    [C] кубков
    [E] мечей
   *[B] жезлов
}
    .between = {", "}
    .accusative = { $rank ->
        [1] туза
        [2] двойку
        [3] тройку
        [4] четвёрку
        [5] пятёрку
        [6] шестёрку
        [7] семёрку
        [8] восьмёрку
        [9] девятку
        [10] валета
        [11] всадника
       *[12] короля
    } { $suit ->
        [O] монет
        [C] кубков
        [E] мечей
       *[B] жезлов
    }

chinchon-staked = Ставку { $seats_count ->
    [one] вносит
   *[other] вносят
} { $seats }; в банке { $pot ->
    [one] { NUMBER($pot, useGrouping: 0) } фишка
    [few] { NUMBER($pot, useGrouping: 0) } фишки
   *[many] { NUMBER($pot, useGrouping: 0) } фишек
}.

chinchon-forehand_drawn = По жребию первая рука в первой сдаче: { $forehand }.

chinchon-dealt = Сдача { $deal }, порядок: { $order }. Открыта карта: { $up }; в доборе { $left ->
    [one] { $left } карта
    [few] { $left } карты
   *[many] { $left } карт
}{ $stock ->
    [none] {""}
   *[other] , сверху вниз: { $stock }
}.
    .hands = { $item ->
        [none] {""}
       *[other] На руках у игрока { $seat }: { $item }.
    }

chinchon-stock_recycled = Добор пуст: новый тасуется из { $count ->
    [one] { $count } карты
   *[many] { $count } карт
} сброса{ $kept ->
    [none] {""}
   *[other] ; сверху сброса остаётся { $kept }
}{ $stock ->
    [none] {""}
   *[other] . Сверху вниз: { $stock }
}.

chinchon-stock_drawn = { $seat } берёт { $card ->
    [none] карту
   *[other] { $card_accusative }
} из добора, { $left ->
    [0] теперь он пуст
    [one] в нём остаётся { $left } карта
    [few] в нём остаются { $left } карты
   *[many] в нём остаётся { $left } карт
}.

chinchon-up_card_taken = { $seat } берёт { $card_accusative } из сброса.

chinchon-discarded = { $seat } сбрасывает { $card_accusative }.

chinchon-irregular_hand = { $seat } заканчивает ход с { $size ->
    [one] { $size } картой
   *[many] { $size } картами
}: неправильная рука.

chinchon-turn_ended = { $seat } заканчивает ход.

chinchon-closed = { $seat } закрывает и кладёт { $card ->
    [none] карту
   *[other] { $card_accusative }
} в закрытом виде.

chinchon-stock_exhausted = { $seat } выбирает добор, а он пуст окончательно: сдача окончена.

chinchon-exposure_began = { $seat }: очередь выкладывать.

chinchon-exposed = { $seat } { $combinations ->
    [none] ничего не выкладывает
   *[other] выкладывает: { $combinations }
}{ $chinchon ->
    [true] {" – "}чинчон
   *[false] {""}
}. { $left ->
    [0] Карт не остаётся
    [one] Остаётся { $left } карта
    [few] Остаются { $left } карты
   *[many] Остаётся { $left } карт
}.
    .combinations = { $item }

chinchon-lay_off_began = { $seat } может приложить карты к комбинациям игрока { $on }.

chinchon-laid_off = { $seat } прикладывает { $card_accusative } к комбинации игрока { $on }; теперь в ней { $combination }{ $closed ->
    [true] . Больше к ней пока прикладывать нельзя
   *[false] {""}
}.

chinchon-passed = { $seat } больше ничего не прикладывает.

chinchon-deal_scored = Сдача { $deal } окончена. Очки: { $points }. Счёт: { $totals }.{ $chinchon ->
    [none] {""}
   *[other] {" "}Чинчон: { $chinchon }.
}{ $linked ->
    [none] {""}
   *[other] {" "}Все карты в комбинациях: { $linked }.
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
    [one] Выбывает { $seats }.
   *[other] Выбывают { $seats }.
}

chinchon-reentry_offered = { $seats } { $seats_count ->
    [one] может
   *[other] могут
} вернуться за ставку; счёт при возвращении: { $total }.

chinchon-reentry_answered = { $seat } { $reenter ->
    [true] соглашается вернуться
    [false] отказывается вернуться
   *[none] отвечает на предложение вернуться
}.

chinchon-reentries_closed = { $back_count ->
    [0] Никто не возвращается.
    [one] Возвращается { $back }, счёт: { $total }.
   *[other] Возвращаются { $back }, счёт: { $total }.
}{ $out_count ->
    [0] {""}
    [one] {" "}Вне игры остаётся { $out }.
   *[other] {" "}Вне игры остаются { $out }.
}

chinchon-pot_taken = Банк { $seats_count ->
    [one] получает
   *[other] получают
} { $seats }; фишки: { $shares }.

chinchon-opened = { $closing_cards_count ->
    [0] Закрытые карты раскрыты; ни одну сдачу не закрывали.
   *[other] Закрытые карты раскрыты.
}
    .closing_cards = { $card ->
        [none] Сдача { $deal }: закрывает { $seat }, карта лежит в закрытом виде.
       *[other] Сдача { $deal }: закрывает { $seat }, в закрытом виде лежит { $card }.
    }
