// What the drivers of both peers share: a server in a process of its own, and rounds that are asked for.
//
// A line of JSON on stdin asks for a round, one on stdout answers it:
//   {"tables": 20, "fresh": true, "clients": 5, "seconds": 2}
//   {"moves": 4000, "seconds": 2.01, "server_cpu": 1.9, "driver_cpu": 0.7, "p50_ms": 9.1, "p99_ms": 20.4}
// Fresh: a new table and new connections a match. Else tables are made and connected before the clock starts, and dealt
// anew whenever a deal is over. With one client instead of five it plays for all seats, and a move is sent to it alone.
'use strict';

const { fork } = require('child_process');
const readline = require('readline');

function cpuSeconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

// One round while it is played: what `play` counts in.
class Round {
  constructor({ tables, fresh, clients, seconds }) {
    Object.assign(this, { tables, fresh, clients, duration: seconds });
    this.stopped = false;
    this.moves = 0;
    this.took = [];
    this.held = [];
    this.connected = 0;
  }

  // Count a move that was sent when the clock showed `sent`, and is now seen for the first time.
  saw(sent) {
    this.moves += 1;
    this.took.push(performance.now() - sent);
  }

  // Go on at once where tables are fresh, else when all tables are connected.
  onceAllAreConnected(goOn) {
    if (this.fresh || this.held === null) goOn();
    else this.held.push(goOn);
  }

  async run(play, serverCpu) {
    const running = this.fresh ? [] : await this.connect(play);
    const [server, driver, begun] = [await serverCpu(), cpuSeconds(), performance.now()];
    setTimeout(() => { this.stopped = true; }, this.duration * 1000);
    if (this.fresh) {
      const lane = async () => { while (!this.stopped) await play(this); };
      await Promise.all(Array.from({ length: this.tables }, lane));
    } else {
      const goOn = this.held;
      this.held = null;
      goOn.forEach((each) => each());
      await Promise.all(running);
    }
    const seconds = (performance.now() - begun) / 1000;
    const took = this.took.sort((a, b) => a - b);
    const quantile = (part) => took[Math.floor((took.length - 1) * part)] ?? 0;
    return {
      moves: this.moves,
      seconds,
      driver_cpu: cpuSeconds() - driver,
      server_cpu: (await serverCpu()) - server,
      p50_ms: quantile(0.5),
      p99_ms: quantile(0.99),
    };
  }

  async connect(play) {
    const running = [];
    for (let table = 0; table < this.tables; table += 1) {
      await new Promise((connected, fail) => {
        const played = play(this, connected);
        played.catch(fail);
        running.push(played);
      });
    }
    return running;
  }
}

// Serve rounds until stdin ends. `prepare` takes the server's address and returns `play(round, connected)`, which plays a
// match, or deal after deal until the round is stopped, and tells when all clients of its table are connected.
async function serveRounds(serverFile, prepare) {
  const server = fork(serverFile, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  server.on('exit', (code) => { if (code) process.exit(code); });
  const told = () => new Promise((resolve) => { server.once('message', resolve); });
  const { port } = await told();
  const serverCpu = async () => { server.send('cpu'); return (await told()).cpu; };
  const play = prepare(`http://127.0.0.1:${port}`);
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const answer = await new Round(JSON.parse(line)).run(play, serverCpu);
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
  server.kill();
  process.exit(0);
}

module.exports = { cpuSeconds, serveRounds };
