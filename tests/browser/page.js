// What the tests have the page do, with the client that is shown to everybody and nothing else.

const api = decodeURIComponent(location.search.slice(1));
const evenfold = new Evenfold(api);

// What the page was told: names of events or types of frames, with what came with them.
const told = [];

// Wait until something is so.
async function until(fact) {
  while (!(await fact())) await new Promise((awake) => setTimeout(awake, 10));
}

// Open a table, sit down, and return its path and its id.
async function sit(game, wanted) {
  const { table } = await evenfold.ask("POST", `/v1/${game}/tables`, wanted);
  const path = `/v1/${game}/tables/${table}`;
  await evenfold.ask("POST", `${path}/seats`, {});
  return { path, table };
}

// Follow a stream into `told`.
function follow(path, query = { after: 0 }) {
  const heard = {};
  for (const name of ["decision", "reset", "lagged", "notice", "table", "gone", "refused"]) {
    heard[name] = (data) => told.push({ name, data });
  }
  heard.ended = (data, stop) => {
    stop();
    told.push({ name: "ended", data });
  };
  return evenfold.follow(path, query, heard);
}

const versions = () => told.filter(({ name }) => name === "decision").map(({ data }) => data.version);
const isOver = () => told.some(({ name }) => name === "ended" || name === "refused");

// Give so many commands at a table, whichever is first, as `give` gives them; wait for one's turn, and end with the play.
async function play(path, count, give = (body) => evenfold.ask("POST", `${path}/commands`, body)) {
  while (count > 0 && !isOver()) {
    const seen = told.length;
    const { legal } = await evenfold.ask("GET", `${path}/actions`);
    if (legal.length > 0) {
      await give(legal[0]);
      count -= 1;
    } else {
      await until(() => told.length > seen);
    }
  }
}

// Play a match to its end over a WebSocket; return what its frames told.
async function playBySocket(game, wanted) {
  const { path, table } = await sit(game, wanted);
  const answers = [];
  const socket = await evenfold.socket((frame) => told.push({ name: frame.type, data: frame }));
  socket.watch(table);
  await play(path, Infinity, async (body) => {
    const { status } = await socket.command(`${path}/commands`, body);
    answers.push(status);
  });
  socket.close();
  return { path, answers, versions: versions(), names: [...new Set(told.map(({ name }) => name))] };
}
