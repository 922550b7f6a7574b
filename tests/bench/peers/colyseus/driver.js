// All players of Colyseus, by its own SDK, which decodes the patches.
'use strict';

const path = require('path');
const { Client } = require('@colyseus/sdk');
const { SEATS, anyOf, playable } = require('../rules');
const { serveRounds } = require('../rounds');

function prepare(address) {
  return async function play(round, connected = () => {}) {
    const client = new Client(address);
    const rooms = [];
    let over;
    const played = new Promise((resolve) => { over = resolve; });
    let [seen, sent, ended] = [-1, 0, false];

    function sit(room) {
      const hands = new Map();
      let acted = -1;
      rooms.push(room);
      const end = () => {
        ended = true;
        over();
      };
      const see = (state) => {
        if (ended) return;
        if (round.stopped) { end(); return; }
        const moment = state.deal * 100 + state.played;
        if (moment > seen) {
          if (sent && state.played > 0) round.saw(sent);
          seen = moment;
        }
        if (state.over) finish(state, moment);
        else if (acted !== moment && hands.get(state.turn)?.length) act(state, moment);
      };
      const finish = (state, moment) => {
        if (acted === moment) return;
        acted = moment;
        if (room !== rooms[0]) return;
        if (round.fresh) end();
        else room.send('again');
      };
      const act = (state, moment) => {
        acted = moment;
        const hand = hands.get(state.turn);
        const card = anyOf(playable(hand, state.led));
        hand.splice(hand.indexOf(card), 1);
        sent = performance.now();
        room.send('play', [state.turn, card]);
      };
      let goOn = false;
      const look = () => { if (goOn && room.state) see(room.state); };
      room.onMessage('hand', ({ seat, hand }) => {
        hands.set(seat, hand.slice());
        look();
      });
      room.onStateChange(look);
      round.onceAllAreConnected(() => {
        goOn = true;
        look();
      });
    }

    const first = await client.create('trick', { clients: round.clients });
    sit(first);
    for (let seat = 1; seat < round.clients; seat += 1) sit(await client.joinById(first.roomId));
    connected();
    await played;
    await Promise.all(rooms.map((room) => room.leave().catch(() => {})));
  };
}

serveRounds(path.join(__dirname, 'server.js'), prepare);
