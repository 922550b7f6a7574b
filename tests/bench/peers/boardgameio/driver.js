// All players of boardgame.io, who speak the messages of its own client over bare socket.io: that costs less.
'use strict';

const path = require('path');
const io = require('socket.io-client');
const { SEATS, anyOf, playable } = require('../rules');
const { serveRounds } = require('../rounds');

function prepare(address) {
  async function post(where, body) {
    const answer = await fetch(address + where, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${where}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  async function opened(game, again) {
    const { matchID } = await post(`/games/${game}/create`, { numPlayers: SEATS, setupData: { again } });
    const credentials = [];
    for (let seat = 0; seat < SEATS; seat += 1) {
      const joined = await post(`/games/${game}/${matchID}/join`, { playerID: String(seat), playerName: `p${seat}` });
      credentials.push(joined.playerCredentials);
    }
    return { matchID, credentials };
  }

  return async function play(round, connected = () => {}) {
    const game = round.clients === 1 ? 'open' : 'trick';
    const { matchID, credentials } = await opened(game, !round.fresh);
    await new Promise((resolve) => {
      const sockets = [];
      let [seen, sent, ended, synced] = [-1, 0, false, 0];
      const end = () => {
        ended = true;
        setImmediate(() => {
          sockets.forEach((socket) => socket.close());
          resolve();
        });
      };
      const act = (socket, state) => {
        const player = state.ctx.currentPlayer;
        const card = anyOf(playable(state.G.hands[player], state.G.led));
        const payload = { type: 'play', args: [card], playerID: player, credentials: credentials[player] };
        sent = performance.now();
        socket.emit('update', { type: 'MAKE_MOVE', payload }, state._stateID, matchID, player);
      };
      const see = (socket, seat, state) => {
        if (ended) return;
        if (round.stopped) { end(); return; }
        if (state._stateID > seen) {
          if (seen >= 0) round.saw(sent);
          seen = state._stateID;
        }
        if (state.ctx.gameover !== undefined) end();
        else if (round.clients === 1 || state.ctx.currentPlayer === String(seat)) act(socket, state);
      };
      for (let seat = 0; seat < round.clients; seat += 1) {
        const socket = io(`${address}/${game}`, { transports: ['websocket'], forceNew: true });
        sockets.push(socket);
        socket.on('connect', () => socket.emit('sync', matchID, String(seat), credentials[seat], SEATS));
        socket.on('update', (_, state) => see(socket, seat, state));
        socket.on('sync', (_, { state }) => {
          round.onceAllAreConnected(() => see(socket, seat, state));
          synced += 1;
          if (synced === round.clients) connected();
        });
      }
    });
  };
}

serveRounds(path.join(__dirname, 'server.js'), prepare);
