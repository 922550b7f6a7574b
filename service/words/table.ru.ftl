# Что может случиться за любым столом. Как каталог говорит о событии, сказано в __init__.py.

seat = место { $number }

by = { $role ->
    [host] { $player } (ведёт стол)
    [arbiter] { $player } (арбитр)
    [director] { $player } (ведёт турнир)
    [clock] часы
    [system] сервис
   *[none] { $player }
}

table-created =
    { $host } открывает стол для игры { $game } ({ $ruleset }): { $seats ->
        [one] { $seats } место
        [few] { $seats } места
       *[many] { $seats } мест
    }; игра начнётся, { $start ->
        [host] когда её начнёт { $host }
       *[full] когда будет занято последнее место
    }.{ $options_count ->
        [0] {""}
       *[other] {" "}Параметры: { $options }.
    } Обязательство для всех тасовок: { $commitment }.
    .options = { $name }={ $item }

table-seeded = { $seed ->
    [none] Начальное число всех тасовок выбрано и запечатано.
   *[other] Начальное число всех тасовок выбрано: { $seed }.
}

table-seat_taken =
    { $player } занимает место { $seat_number }{ $nonce ->
        [none] {""}
       *[other] , свой код для тасовок: { $nonce }
    }.{ $bot ->
        [none] {""}
       *[other] {" "}Это бот { $bot }.
    }

table-seat_left = { $player } освобождает место { $seat_number }.

table-started = Игра начинается. { $seats_count ->
    [one] Играет
   *[other] Играют
} { $seats }.

table-shuffled = { $order ->
    [none] Тасовка { NUMBER($c, useGrouping: 0) } сделана; её порядок запечатан.
   *[other] Тасовка { NUMBER($c, useGrouping: 0) } даёт порядок: { $order }.
}

table-turn_began = Очередь: { $seats }.

table-answered = { $seat } даёт ответ.

table-scored = Сдача { $deal } приносит: { $points }. Счёт: { $scores }.
    .points = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }
    .scores = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }

table-resigned = { $seat } сдаётся.

table-ended = { $outcome ->
    [finished] Игра окончена.
    [abandoned] Игра за столом прекращена.
    [annulled] Игра за столом аннулирована.
   *[adjudicated] Исход игры за столом присуждён.
}{ $places ->
    [none] {""}
   *[other] {" "}Места: { $places }.
}
    .places = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }

table-opened = Всё раскрыто. Начальное число было { $seed }.
    .orders = Тасовка { NUMBER($c, useGrouping: 0) } дала порядок: { $order }.

table-dispute_filed =
    Подан протест { $dispute } по { $versions ->
        [1] версии { NUMBER($first, useGrouping: 0) }
       *[other] версиям { NUMBER($first, useGrouping: 0) }–{ NUMBER($last, useGrouping: 0) }
    }: { $reason ->
        [rules] правила
        [conduct] поведение
        [outage] сбой
        [mistake] ошибка
       *[other] другая причина
    }.

table-paused = Игра приостановлена.

table-resumed = Игра продолжается.

table-looked =
    По протесту { $dispute } просматриваются карты { $versions ->
        [1] версии { NUMBER($first, useGrouping: 0) }
       *[other] версий { NUMBER($first, useGrouping: 0) }–{ NUMBER($last, useGrouping: 0) }
    }.

table-ruled =
    Решение по протесту { $dispute }: { $verdict ->
        [upheld] всё остаётся в силе
        [corrected] результат исправлен
        [annulled] игра за столом аннулирована
       *[replayed] сдача { $deal } играется заново
    }.{ $scores ->
        [none] {""}
       *[other] {" "}Счёт: { $scores }.
    }{ $places ->
        [none] {""}
       *[other] {" "}Места: { $places }.
    }{ $forfeits ->
        [none] {""}
       *[other] {" "}Поражение засчитано: { $forfeits }.
    }
    .scores = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }
    .places = { $item ->
        [none] {""}
       *[other] { $seat } { $item }
    }

table-deal_replayed = Карты сдачи { $deal } сдаются заново тасовками номера { $number }.
