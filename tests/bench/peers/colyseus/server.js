// Rooms of Colyseus, in memory: the state that all see is patched right after each move, hands go to their owners.
'use strict';

require('../loopback');
const { Room, Server } = require('@colyseus/core');
const { schema } = require('@colyseus/schema');
const { WebSocketTransport } = require('@colyseus/ws-transport');
const { SEATS, DEAL, PACK, colour, handsOf, playable, taking } = require('../rules');

const State = schema({
  turn: 'int8',
  led: 'int8',
  played: 'uint8',
  trick: { array: 'uint8' },
  tricks: { array: 'uint8' },
  over: 'boolean',
  deal: 'uint32',
}, 'State');

function shuffled() {
  const pack = PACK.slice();
  for (let last = pack.length - 1; last > 0; last -= 1) {
    const other = Math.floor(Math.random() * (last + 1));
    [pack[last], pack[other]] = [pack[other], pack[last]];
  }
  return pack;
}

class Trick extends Room {
  onCreate({ clients }) {
    this.maxClients = clients;
    this.patchRate = null; // by hand, right after each move; the default of 20 a second would be the limit
    this.players = [];
    this.state = Object.assign(new State(), { turn: -1, led: -1, played: 0, over: false, deal: 0 });
    this.onMessage('play', (client, [seat, card]) => this.play(client, seat, card));
    this.onMessage('again', () => { if (this.state.over) this.deal(); });
  }

  onJoin(client) {
    this.players.push(client);
    if (this.players.length === this.maxClients) this.deal();
  }

  // Who plays for a seat: its own client, or the only one.
  playerOf(seat) {
    return this.players[seat % this.maxClients];
  }

  deal() {
    this.hands = handsOf(shuffled());
    this.trick = [];
    this.hands.forEach((hand, seat) => this.playerOf(seat).send('hand', { seat, hand }));
    Object.assign(this.state, { deal: this.state.deal + 1, over: false, played: 0, led: -1, turn: 0 });
    this.state.trick.clear();
    this.state.tricks.clear();
    for (let seat = 0; seat < SEATS; seat += 1) this.state.tricks.push(0);
    this.broadcastPatch();
  }

  play(client, seat, card) {
    const { state } = this;
    if (state.turn !== seat || state.over || this.playerOf(seat) !== client) throw new Error('not your turn');
    const hand = this.hands[seat];
    if (!playable(hand, state.led).includes(card)) throw new Error('not a legal card');
    hand.splice(hand.indexOf(card), 1);
    if (state.led < 0) state.led = colour(card);
    this.trick.push([seat, card]);
    state.trick.push(card);
    state.played += 1;
    if (this.trick.length === SEATS) this.take();
    else state.turn = (seat + 1) % SEATS;
    if (state.played === DEAL) state.over = true;
    this.broadcastPatch();
  }

  take() {
    const [taker] = taking(this.trick);
    this.trick = [];
    this.state.tricks[taker] += 1;
    this.state.trick.clear();
    this.state.led = -1;
    this.state.turn = taker;
  }
}

const server = new Server({ transport: new WebSocketTransport({}), greet: false });
server.define('trick', Trick);
server.listen(1);
