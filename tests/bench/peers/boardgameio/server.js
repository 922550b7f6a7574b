// boardgame.io's own server with its own storage, in memory; the game in its words.
'use strict';

require('../loopback');
const { INVALID_MOVE } = require('boardgame.io/core');
const { Server } = require('boardgame.io/server');
const { SEATS, DEAL, PACK, colour, handsOf, playable, taking } = require('../rules');

function dealt(random) {
  return { hands: Object.fromEntries(handsOf(random.Shuffle(PACK)).entries()), trick: [], led: -1, played: 0 };
}

function play({ G, playerID, events, random }, card) {
  const hand = G.hands[playerID];
  if (!playable(hand, G.led).includes(card)) return INVALID_MOVE;
  hand.splice(hand.indexOf(card), 1);
  if (G.led < 0) G.led = colour(card);
  G.trick.push([Number(playerID), card]);
  G.played += 1;
  if (G.trick.length < SEATS) {
    events.endTurn();
    return undefined;
  }
  const [taker] = taking(G.trick);
  G.tricks[taker] += 1;
  G.trick = [];
  G.led = -1;
  const over = G.played === DEAL && G.again;
  if (over) Object.assign(G, dealt(random));
  events.endTurn({ next: over ? '0' : String(taker) });
  return undefined;
}

const trick = {
  name: 'trick',
  minPlayers: SEATS,
  maxPlayers: SEATS,
  setup: ({ random }, { again }) => ({ ...dealt(random), tricks: Array(SEATS).fill(0), again }),
  // The hands of others are hidden.
  playerView: ({ G, playerID }) => ({ ...G, hands: { [playerID]: G.hands[playerID] } }),
  turn: { minMoves: 1, order: { first: () => 0, next: ({ ctx }) => (ctx.playOrderPos + 1) % SEATS } },
  moves: { play: { client: false, move: play } },
  endIf: ({ G }) => (G.played === DEAL && !G.again ? { tricks: G.tricks } : undefined),
};

// For one client that plays for all seats.
const open = { ...trick, name: 'open', playerView: ({ G }) => G };

Server({ games: [trick, open], origins: [/.*/] }).run({ port: 1 });
