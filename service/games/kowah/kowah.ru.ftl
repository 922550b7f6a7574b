# Что может случиться в игре Kowah. Как каталог говорит о событии, сказано в service/words.

card = { $card ->
    [OT] Старая тысяча
    [RF] Красный цветок
    [WF] Белый цветок
   *[other] { $rank ->
        [1] единица
       *[other] { $rank }
    } { $suit ->
        [C] монет
        [S] связок
       *[M] мириад
    }
}
    .between = {", "}
    .accusative = { $card ->
        [OT] Старую тысячу
        [RF] Красный цветок
        [WF] Белый цветок
       *[other] { $rank ->
            [1] единицу
            [2] двойку
            [3] тройку
            [4] четвёрку
            [5] пятёрку
            [6] шестёрку
            [7] семёрку
            [8] восьмёрку
           *[9] девятку
        } { $suit ->
            [C] монет
            [S] связок
           *[M] мириад
        }
    }

kowah-first_drawn = По жребию начинает { $first }.

kowah-dealt = Сдача { $deal }. Порядок ходов: { $order }. В доборе { $left ->
    [one] { $left } карта
    [few] { $left } карты
   *[many] { $left } карт
}.
    .hands = { $item ->
        [none] {""}
       *[other] На руках у игрока { $seat }: { $item }.
    }

kowah-stock_drawn = { $seat } берёт { $card ->
    [none] карту
   *[other] { $card_accusative }
} из добора; { $left ->
    [0] он пуст
    [one] в нём остаётся { $left } карта
    [few] в нём остаются { $left } карты
   *[many] в нём остаётся { $left } карт
}.

kowah-stock_turned = { $seat } берёт из добора у всех на виду { $card_accusative }; { $left ->
    [0] он пуст
    [one] в нём остаётся { $left } карта
    [few] в нём остаются { $left } карты
   *[many] в нём остаётся { $left } карт
}.

kowah-discard_taken = { $seat } берёт { $card_accusative } из сброса.

kowah-discarded = { $seat } сбрасывает { $card_accusative }.

kowah-declared = { $seat } объявляет готовность (чеки) и ждёт { $kind_accusative }{ $waits_count ->
    [0] {""}
    [1] {""}
   *[other] ; выиграла бы любая из карт: { $waits }
}.{ $hand ->
    [none] {""}
   *[other] {" "}Рука: { $hand }.
}

kowah-won = { $how ->
    [self_draw] { $seat } берёт { $card_accusative } и выигрывает: свой добор, тройной выигрыш.
    [opponent_draw] { $by } берёт { $card_accusative }, и выигрывает { $seat }: добор соперника, одинарный выигрыш.
   *[opponent_discard] { $by } сбрасывает { $card_accusative }, и выигрывает { $seat }: сброс, двойной выигрыш.
}

kowah-stock_ended = Добор закончился, и никто не выиграл.

kowah-deal_scored = { $winner ->
    [none] Сдача { $deal }: ничья.
   *[other] Сдача { $deal }: победа за игроком { $winner }, множитель { $multiplier }.
}

kowah-opened = Скрытое раскрыто: карты на руках в конце { $hands_count ->
    [1] сдачи
    [one] каждой из { $hands_count } сдачи
   *[many] каждой из { $hands_count } сдач
}.
    .hands = Сдача { $deal }: { $hands }.
    .hands_hands = { $item ->
        [none] {""}
       *[other] { $seat } – { $item }
    }
