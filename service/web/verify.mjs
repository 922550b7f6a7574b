/*
 * Checks the record of an Evenfold table without Evenfold: written from the page "The record" alone.
 *
 *     node verify.mjs RECORD KEYS [CHECKPOINTS]           prints what it finds; exit code 0 or 1, 2 if it can't look
 *     node verify.mjs RECORD --unsigned [CHECKPOINTS]     leaves signatures aside
 *     node verify.mjs … --other-tables                    leaves checkpoints of other tables aside
 *     import { verify } from "./verify.mjs"               in a browser, or anywhere with Web Crypto
 *
 * It checks the lines, the chain of heads, the signature, checkpoints, texts, the commitment, every shuffle, and that
 * deals are numbered one by one. It knows no rules of any game: whether each decision follows them is what
 * `evenfold verify` checks besides.
 */

const UTF8 = new TextEncoder();
// Node 18 has it under another name.
const { subtle } = globalThis.crypto ?? (await import("node:crypto").catch(() => ({}))).webcrypto ?? {};

const NUMBERS_PER_DEAL = 65536;

const SALT = /^[A-Za-z0-9_-]{22}$/;
const ID = /^[0-9a-hjkmnp-tv-z]{26}$/;
const TABLE = /^table:[0-9a-hjkmnp-tv-z]{26}$/;
const BOT = /^bot:[a-z][a-z0-9_]*\/[0-9]+#[0-7]$/;
const CAUSE = /^(table|tournament):[0-9a-hjkmnp-tv-z]{26}:[1-9][0-9]{0,15}$/;

const MEMBERS = {
  seated: ["seat", "player"],
  other: ["role", "player"],
  header: ["record", "options", "ruleset", "players", "key", "texts"],
  text: ["id", "salt", "text"],
  entry: ["log", "stream", "version", "at", "by", "command", "cause", "key", "salt", "events"],
  trailer: ["version", "head", "seed", "nonces", "signature"],
};

class Wrong extends Error {
  constructor(line, code, sentence) {
    super(sentence);
    Object.assign(this, { line, code });
  }
}

/**
 * Checks one record.
 *
 * record       its bytes, or its text if they were decoded strictly
 * keys         what /.well-known/evenfold-keys.json answers, or null to leave signatures aside
 * checkpoints  those that were kept of its table; with otherTables also of others, which are left aside
 *
 * Returns { ok: true, signed, table, version, head, shuffles, checkpoints } or { ok: false, line, code, sentence };
 * `signed` says whether the signature was looked at. Where a checkpoint is wrongly signed, or of a table that the
 * record is not of, `ok` is false as well, and `flaws` has { stream, version, code, sentence } of each. The codes are
 * those of `evenfold verify`, and `shuffle`.
 *
 * Throws an Error where nothing can be said of the record: Web Crypto is missing, or keys or checkpoints are none.
 */
export async function verify(record, keys = null, checkpoints = [], { otherTables = false } = {}) {
  if (subtle === undefined) {
    throw new Error("crypto.subtle is missing: browsers have it in secure contexts (https) alone, Node from 18 on");
  }
  const known = keys === null ? null : await imported(keys);
  expectCheckpoints(checkpoints);
  const { sound, flaws } = await sifted(checkpoints, known);
  const stream = streamOf(record);
  const found = await judged(record, known, sound.filter((checkpoint) => checkpoint.stream === stream));
  if (!otherTables) {
    const others = sound.filter((checkpoint) => checkpoint.stream !== stream);
    flaws.push(...others.map((checkpoint) => flaw(checkpoint, "unmet", "The record is not of this table.")));
  }
  return flaws.length === 0 ? found : { ...found, ok: false, flaws };
}

/* What the first entry says that it is of, whatever else is wrong; null where it says nothing. */

function streamOf(record) {
  try {
    const text = typeof record === "string" ? record : new TextDecoder().decode(record);
    return JSON.parse(text.split("\n", 2)[1]).stream;
  } catch {
    return null;
  }
}

async function judged(record, keys, checkpoints) {
  try {
    return { ok: true, signed: keys !== null, ...(await checked(record, keys, checkpoints)) };
  } catch (wrong) {
    // What has another shape than a record meets the first line of ours that takes it for one.
    if (![Wrong, TypeError, RangeError, SyntaxError].some((kind) => wrong instanceof kind)) throw wrong;
    const { line, code, message } = wrong instanceof Wrong ? wrong : new Wrong(1, "not_a_record", String(wrong));
    return { ok: false, line, code, sentence: message };
  }
}

async function checked(record, keys, checkpoints) {
  // A decoder that puts U+FFFD in the place of what is no UTF-8 would make one text of many.
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const lines = (typeof record === "string" ? record : strict.decode(record)).split("\n");
  if (lines.pop() !== "" || lines.length < 3) {
    throw new Wrong(1, "not_a_record", "A record is a header, entries and a trailer, each a line ended by a newline.");
  }
  const [version, end] = [lines.length - 2, lines.length];
  const header = parsed(lines[0], 1, "header");
  expectHeader(header);
  const table = await followed(lines.slice(1, -1), checkpoints);
  expect(table.ended, end, "not_ended", "The log stops before play has ended.");
  await expectStated(header, table);
  const trailer = parsed(lines[end - 1], end, "trailer");
  expectTrailer(end, trailer);
  expect(trailer.version === version, end, "trailer", "The log has another length.");
  expect(trailer.head === hex(table.head), end, "chain", "The log chains up to another head.");
  expect(same(trailer.nonces, table.nonces), end, "trailer", "The players gave other nonces.");
  expect(trailer.seed === table.seed && trailer.seed === table.opened, end, "seed", "The seed differs.");
  expect(keys === null || keys.has(header.key), 1, "unknown_key", "The key is not among those given.");
  const signed = await isSigned(keys, header.key, trailer.signature,
    tag("evenfold/record/1"), sized(table.stream), u64(version), table.head, await sha256(lines[0]));
  expect(signed, end, "signature", "The signature is not that of the key.");
  // What is wrong in the log itself comes before what shows that it goes on.
  const goesOn = checkpoints.some((checkpoint) => checkpoint.version > version);
  expect(!goesOn, end - 1, "checkpoint", "A checkpoint is of a later version.");
  return { table: table.stream.slice("table:".length), version, head: trailer.head, shuffles: table.shuffles,
    checkpoints: checkpoints.length };
}

async function expectStated({ options, ruleset, players, texts }, table) {
  expect(same(options, table.created.options), 1, "header", "The log has other options.");
  expect(ruleset === table.created.ruleset, 1, "header", "The log has another ruleset.");
  expect(same(players, table.players), 1, "header", "Others sit at the table.");
  for (const { id, salt, text } of texts) {
    const hash = hex(await sha256(tag("evenfold/text/1"), bytes(salt), text));
    expect(table.texts.delete(`${id} ${hash}`), 1, "text", "The log has no hash of a text.");
  }
}

/* Goes through the entries from the first on, so that what is wrong first is told, and returns what they come to. */

async function followed(lines, checkpoints) {
  const { stream } = parsed(lines[0], 2, "entry");
  expect(typeof stream === "string" && TABLE.test(stream), 2, "entry", "It names no table.");
  const table = { stream, head: await sha256(tag("evenfold/head/1"), stream), at: 0, created: null, seed: null,
    players: [], nonces: [], shuffles: 0, deal: 0, key: null, texts: new Set(), ended: false, opened: null };
  for (const [index, text] of lines.entries()) {
    const [line, version] = [index + 2, index + 1];
    const entry = parsed(text, line, "entry");
    expectMembers(line, "entry", entry, MEMBERS.entry);
    const follows = entry.log === 1 && entry.stream === stream && entry.version === version;
    expect(follows, line, "order", "It does not follow.");
    expectEntry(line, entry);
    expect(entry.at >= table.at, line, "order", "It is older than the entry before.");
    table.at = entry.at;
    table.head = await sha256(tag("evenfold/head/1"), table.head, text);
    for (const event of entry.events) happened(line, table, event);
    if (version === 1) await expectCommitted(table);
    for (const event of entry.events) {
      if (event.type === "table.shuffled") await expectShuffle(line, table, event);
    }
    const head = hex(table.head);
    const met = checkpoints.every((checkpoint) => checkpoint.version !== version || checkpoint.head === head);
    expect(met, line, "checkpoint", "A checkpoint that was kept is not of this log.");
  }
  return table;
}

/* Takes up what a neutral event says. */

function happened(line, table, event) {
  switch (event.type) {
    case "table.created":
      expect(table.created === null, line, "entry", "It opens the table once more.");
      table.created = event;
      table.players = Array(event.seats).fill(null);
      table.nonces = Array(event.seats).fill("");
      break;
    case "table.seeded":
      expect(table.seed === null, line, "entry", "It opens the table once more.");
      table.seed = event.seed;
      break;
    case "table.seat_taken":
    case "table.seat_left":
      expect(table.shuffles === 0, line, "entry", "Somebody sits down or leaves after a shuffle.");
      table.players[event.seat] = event.type === "table.seat_taken" ? event.player : null;
      table.nonces[event.seat] = event.type === "table.seat_taken" ? event.nonce : "";
      break;
    case "table.shuffled":
      table.shuffles++;
      break;
    case "table.dispute_filed":
    case "table.ruled":
      if (event.text !== null) table.texts.add(`${event.text.id} ${event.text.hash}`);
      break;
    case "table.ended":
      table.ended = true;
      break;
    case "table.opened":
      table.opened = event.seed;
      break;
  }
}

async function expectCommitted({ stream, created, seed }) {
  expect(created !== null && seed !== null, 2, "entry", "The first entry opens no table.");
  const commitment = isHex(seed, 32) ? hex(await sha256(tag("evenfold/commit/1"), sized(stream), bytes(seed))) : null;
  expect(commitment === created.commitment, 2, "seed", "The seed is not the one that was committed to.");
}

/* Shuffles: a pack, or a part of one, is shuffled from its printed order, copies side by side. */

const RANKS = (suits, ranks) => [...suits].flatMap((suit) => ranks.map((rank) => suit + rank));
const PRINTED = {
  chinkway: RANKS("SHDC", [..."23456789TJQKA"]),
  chinchon: RANKS("OCEB", ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"]),
  kowah: [...RANKS("CSM", [..."123456789"]), "OT", "RF", "WF"],
};

function printed(order, game) {
  const cards = PRINTED[game] ?? [];
  const place = (item) => (typeof item === "number" ? item : cards.indexOf(item));
  return [...order].sort((one, other) => place(one) - place(other));
}

async function expectShuffle(line, table, { c, order }) {
  if (c > 0 && c % NUMBERS_PER_DEAL === 0) table.deal++;
  const next = c < NUMBERS_PER_DEAL || Math.floor(c / NUMBERS_PER_DEAL) === table.deal;
  expect(next, line, "shuffle", `Shuffle ${c} is not of deal ${table.deal}, which is the next.`);
  // Nobody sits down any more: the nonces stay as they are.
  const { seed, stream, nonces } = table;
  table.key ??= await hmac(bytes(seed), tag("evenfold/shuffle/1"), sized(stream), ...nonces.map(sized));
  const again = await shuffled(table.key, printed(order, table.created.game), c);
  expect(same(again, order), line, "shuffle", `Shuffle ${c} gives another order.`);
}

async function shuffled(key, pack, c) {
  const order = [...pack];
  const drawn = words(key, c);
  for (let last = order.length - 1; last > 0; last--) {
    const other = await below(BigInt(last + 1), drawn);
    [order[last], order[other]] = [order[other], order[last]];
  }
  return order;
}

async function below(bound, drawn) {
  const rejected = 2n ** 64n - (2n ** 64n % bound);
  for (;;) {
    const { value } = await drawn.next();
    if (value < rejected) return Number(value % bound);
  }
}

async function* words(key, c) {
  for (let block = 0; ; block++) {
    const view = new DataView((await hmac(key, u64(c), u64(block))).buffer);
    for (const at of [0, 8, 16, 24]) yield view.getBigUint64(at);
  }
}

/* Signatures. */

/* The published keys, by their ids, ready to verify with; throws an Error where they can't be. */

async function imported(published) {
  const known = new Map();
  if (!Array.isArray(published?.keys)) throw new Error("The keys are not those of /.well-known/evenfold-keys.json");
  for (const { id, public: raw } of published.keys) {
    if (!isHex(id, 8) || !isHex(raw, 32)) throw new Error("A key that was given is no Ed25519 key in hex");
    try {
      known.set(id, await subtle.importKey("raw", bytes(raw), { name: "Ed25519" }, false, ["verify"]));
    } catch (error) {
      throw new Error(`Ed25519 is missing in this Web Crypto (${error})`, { cause: error });
    }
  }
  return known;
}

function expectCheckpoints(checkpoints) {
  for (const { stream, version, head, at, key, signature } of checkpoints) {
    const numbers = Number.isSafeInteger(version) && version >= 1 && Number.isSafeInteger(at) && at >= 0;
    if (typeof stream !== "string" || !numbers || !isHex(head, 32) || !isHex(key, 8) || !isHex(signature, 64)) {
      throw new Error("A checkpoint that was given is none");
    }
  }
}

/* The checkpoints that are signed, of whatever table, and what is wrong with the others. */

async function sifted(checkpoints, known) {
  const [sound, flaws] = [[], []];
  for (const checkpoint of checkpoints) {
    const { stream, version, head, at, key, signature } = checkpoint;
    const signed = await isSigned(known, key, signature,
      tag("evenfold/checkpoint/1"), sized(stream), u64(version), bytes(head), u64(at));
    if (signed) sound.push(checkpoint);
    else flaws.push(flaw(checkpoint, "checkpoint_signature", "It is not signed by a key that was given."));
  }
  return { sound, flaws };
}

const flaw = ({ stream, version }, code, sentence) => ({ stream, version, code, sentence });

/* Tells whether one of the known keys has signed this; without any, signatures are left aside. */

async function isSigned(known, id, signature, ...message) {
  if (known === null) return true;
  return known.has(id) && subtle.verify("Ed25519", known.get(id), bytes(signature), joined(message));
}

/* Lines. */

function parsed(line, number, code) {
  let value;
  try {
    value = JSON.parse(line);
  } catch {
    throw new Wrong(number, "not_a_record", "The line is no JSON.");
  }
  // Half a character has no bytes in UTF-8; JSON.stringify escapes it, and nothing else that begins with \ud.
  const halved = /(?<!\\)(\\\\)*\\ud/.test(line);
  expect(JSON.stringify(value) === line && !halved, number, code, "The line is not written as it must be.");
  return value;
}

function expectHeader(header) {
  expectMembers(1, "header", header, MEMBERS.header);
  expect(header.record === 1, 1, "header", "It is not of the format record/1.");
  expect(isHex(header.key, 8), 1, "header", "The name of the key is not 16 digits of hex.");
  expect(Array.isArray(header.texts), 1, "header", "The texts are no array.");
  for (const text of header.texts) {
    expectMembers(1, "header", text, MEMBERS.text);
    expect(isHex(text.salt, 16) && typeof text.text === "string", 1, "header", "A text or its salt is none.");
  }
}

function expectEntry(line, { at, by, key, cause, salt }) {
  expect(Number.isSafeInteger(at) && at >= 0, line, "entry", "The time is no number of milliseconds.");
  expect(isBy(by), line, "entry", "It is not told who asked for it.");
  expect(typeof salt === "string" && SALT.test(salt), line, "entry", "The salt is not 128 bits in base64url.");
  expect(key === null || isHex(key, 32), line, "entry", "The key is neither null nor 64 digits of hex.");
  expect(cause === null || (typeof cause === "string" && CAUSE.test(cause)), line, "entry",
    "The cause is neither null nor a stream and a version.");
}

function isBy(by) {
  if (typeof by?.player !== "string") return false;
  const members = Object.keys(by);
  if (same(members, MEMBERS.other)) return ["host", "arbiter", "director"].includes(by.role) && ID.test(by.player);
  const seat = same(members, MEMBERS.seated) && Number.isInteger(by.seat) && by.seat >= 0 && by.seat < 8;
  return seat && (ID.test(by.player) || (BOT.test(by.player) && by.player.endsWith(`#${by.seat}`)));
}

function expectTrailer(line, trailer) {
  expectMembers(line, "trailer", trailer, MEMBERS.trailer);
  expect(isHex(trailer.seed, 32), line, "trailer", "The seed is not 64 digits of hex.");
  expect(isHex(trailer.signature, 64), line, "trailer", "The signature is not 128 digits of hex.");
}

function expectMembers(line, code, value, names) {
  const object = value !== null && typeof value === "object" && !Array.isArray(value);
  expect(object && same(Object.keys(value), names), line, code, `Its members are not ${names.join(", ")}.`);
}

function expect(holds, line, code, sentence) {
  if (!holds) throw new Wrong(line, code, sentence);
}

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/* Bytes. */

const hex = (data) => Array.from(data, (byte) => byte.toString(16).padStart(2, "0")).join("");
const isHex = (text, length) => typeof text === "string" && text.length === 2 * length && /^[0-9a-f]*$/.test(text);
/* Of hex that was looked at with isHex: anything else in it would be skipped. */
const bytes = (text) => Uint8Array.from(text.match(/[0-9a-f]{2}/g) ?? [], (pair) => parseInt(pair, 16));
const tag = (name) => joined([name, Uint8Array.of(0)]);

function u64(number) {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(number));
  return new Uint8Array(view.buffer);
}

function sized(text) {
  const data = UTF8.encode(text);
  return joined([Uint8Array.of(data.length >> 8, data.length & 255), data]);
}

function joined(parts) {
  const all = parts.map((part) => (typeof part === "string" ? UTF8.encode(part) : part));
  const whole = new Uint8Array(all.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of all) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

async function sha256(...parts) {
  return new Uint8Array(await subtle.digest("SHA-256", joined(parts)));
}

async function hmac(secret, ...parts) {
  const key = await subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await subtle.sign("HMAC", key, joined(parts)));
}

/* On the command line of Node. */

const USAGE = "Usage: node verify.mjs RECORD KEYS [CHECKPOINTS] [--other-tables]; " +
  "--unsigned in the place of KEYS leaves signatures aside";

/* Tells whether Node was started with this file, whatever its name is, also by a link; else it was imported. */

async function isStarted() {
  const started = globalThis.process?.argv?.[1];
  if (started === undefined) return false;
  // What Node reads from the standard input has no file, and this name.
  if (started === "-") return import.meta.url.endsWith("/[eval1]");
  try {
    const [{ createRequire }, { realpathSync }, { fileURLToPath }] =
      await Promise.all(["node:module", "node:fs", "node:url"].map((name) => import(name)));
    const resolved = createRequire(import.meta.url).resolve(started);
    return realpathSync(resolved) === realpathSync(fileURLToPath(import.meta.url));
  } catch {
    return false;
  }
}

async function main(given) {
  const options = given.filter((argument) => argument.startsWith("--"));
  const files = given.filter((argument) => !options.includes(argument));
  const known = options.every((option) => option === "--unsigned" || option === "--other-tables");
  const keyless = options.includes("--unsigned");
  if (!known || files.length < (keyless ? 1 : 2) || files.length > (keyless ? 2 : 3)) {
    console.error(USAGE);
    return 2;
  }
  try {
    const { readFileSync } = await import("node:fs");
    const [record, ...evidence] = files.map((file) => readFileSync(file));
    const keys = keyless ? null : JSON.parse(evidence.shift());
    const kept = String(evidence[0] ?? "").split("\n").filter(Boolean).map((line) => JSON.parse(line));
    const found = await verify(record, keys, kept, { otherTables: options.includes("--other-tables") });
    console.log(JSON.stringify(found));
    return found.ok ? 0 : 1;
  } catch (error) {
    console.error(String(error));
    return 2;
  }
}

if (await isStarted()) process.exitCode = await main(process.argv.slice(2));
