// Trick, as both peers play it: five players, fifty cards 0 … 49 of five colours, ten tricks, the colour led is followed,
// its highest card takes the trick and leads. tests/bench/trick/ is the same game as Evenfold plays it.
'use strict';

const SEATS = 5;
const HAND = 10;
const DEAL = SEATS * HAND;
const PACK = Array.from({ length: DEAL }, (_, card) => card);

const colour = (card) => Math.floor(card / HAND);

// The cards of a hand that may be played where a colour was led; -1 is none yet.
function playable(hand, led) {
  const following = led < 0 ? [] : hand.filter((card) => colour(card) === led);
  return following.length ? following : hand;
}

// Which [seat, card] of a trick takes it, the card led being the first.
function taking(trick) {
  const led = colour(trick[0][1]);
  return trick.reduce((best, played) => (colour(played[1]) === led && played[1] > best[1] ? played : best));
}

function handsOf(pack) {
  return Array.from({ length: SEATS }, (_, seat) => pack.slice(seat * HAND, (seat + 1) * HAND));
}

function anyOf(cards) {
  return cards[Math.floor(Math.random() * cards.length)];
}

module.exports = { SEATS, DEAL, PACK, anyOf, colour, handsOf, playable, taking };
