# Что может случиться в игре Chinkway. Как каталог говорит о событии, сказано в service/words.

card = { $suit ->
    [S] ♠
    [H] ♥
    [D] ♦
   *[C] ♣
}{ $rank ->
    [T] 10
    [J] В
    [Q] Д
    [K] К
    [A] Т
   *[other] { $rank }
}

chinkway-dealer_drawn = По жребию первую сдачу сдаёт { $dealer }.

chinkway-quest_reduced = { $cards ->
    [none] Из колоды поиска не глядя убраны две карты.
   *[other] Из колоды поиска убраны две карты: { $cards }.
}

chinkway-quest_shuffled = { $cards ->
    [none] Колода поиска перетасована.
   *[other] Колода поиска перетасована; сверху вниз: { $cards }.
}

chinkway-dealt = Сдача { $deal }, сдаёт { $dealer }. Стороны: { $sides }.
    .sides = { $item }
    .hands = { $item ->
        [none] {""}
       *[other] На руках у игрока { $seat }: { $item }.
    }

chinkway-discarded = { $cards ->
    [none] { $seat } сбрасывает две карты в закрытом виде.
   *[other] { $seat } сбрасывает { $cards }.
}

chinkway-declared = { $seat } объявляет { $trump ->
    [S] козырями пики
    [H] козырями червы
    [D] козырями бубны
    [C] козырями трефы
   *[NT] игру без козырей
}.

chinkway-quest_kept = Карты поиска остаются теми, что были открыты: { $cards }.

chinkway-quest_turned =
    Карты поиска: { $cards }. Нужны пики: { $wanted_spades }, червы: { $wanted_hearts }, бубны: { $wanted_diamonds }, трефы: { $wanted_clubs }, картинки: { $wanted_court }. Заходит { $leader }.

chinkway-played = { $seat } кладёт { $card }.

chinkway-trick_taken = { $seat } берёт взятку{ $choices ->
    [none] {" "}и ничего забрать не может
   *[other] {" "}и может забрать одну карту: { $choices }
}{ $needed_count ->
    [0] {""}
    [one] ; часть выполнила бы карта { $needed }
   *[other] ; часть выполнили бы карты { $needed }
}.

chinkway-captured = { $seat } забирает { $card }{ $credited_count ->
    [0] ; ни одна часть не выполнена
    [one] ; выполнена часть игрока { $credited }
   *[other] ; выполнена часть игроков { $credited }
}.

chinkway-declined = { $seat } отказывается забирать карту.

chinkway-deal_scored = Сдача { $deal } окончена. Выполненные части: { $parts }. Очки: { $points }. Счёт: { $totals }.
    .parts = { $seat } { $item }
    .points = { $seat } { $item }
    .totals = { $seat } { $item }

chinkway-opened = { $removed ->
    [none] Закрытые карты раскрыты; из колоды поиска ничего не убирали.
   *[other] Закрытые карты раскрыты. Из колоды поиска были убраны { $removed }.
}
    .discards = { $seat }: в сброс ушли { $cards }.
