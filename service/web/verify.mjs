/*
 * Checks the record of an Evenfold table without Evenfold: written from the page "The record" alone.
 *
 *     node verify.mjs RECORD KEYS [CHECKPOINTS]           prints what it finds; exit code 0 or 1, 2 if it can't look
 *     node verify.mjs RECORD --unsigned [CHECKPOINTS]     leaves signatures aside
 *     import { verify } from "./verify.mjs"               in a browser, or anywhere with Web Crypto
 *
 * It checks the lines, the chain of heads, the signature, checkpoints, texts, the commitment, every shuffle, and that
 * deals are numbered one by one. It knows no rules of any game: whether each decision follows them is what
 * `evenfold verify` checks besides.
 */

const UTF8 = new TextEncoder();
// Node 18 has it under another name.
const { subtle } = globalThis.crypto ?? (await import("node:crypto").catch(() => ({}))).webcrypto ?? {};

const TAGS = { head: "evenfold/head/1", commit: "evenfold/commit/1", shuffle: "evenfold/shuffle/1",
  record: "evenfold/record/1", checkpoint: "evenfold/checkpoint/1", text: "evenfold/text/1" };

const NUMBERS_PER_DEAL = 65536;

const SALT = /^[A-Za-z0-9_-]{22}$/;
const CAUSE = /^(table|tournament):[0-9a-hjkmnp-tv-z]{26}:[1-9][0-9]{0,15}$/;

const MEMBERS = {
  header: ["record", "options", "ruleset", "players", "key", "texts"],
  text: ["id", "salt", "text"],
  entry: ["log", "stream", "version", "at", "by", "command", "cause", "key", "salt", "events"],
  trailer: ["version", "head", "seed", "nonces", "signature"],
};

class Wrong extends Error {
  constructor(line, code, told) {
    super(`line ${line}: ${code}. ${told}`);
    Object.assign(this, { line, code });
  }
}

/**
 * Checks one record.
 *
 * record       its bytes, or its text if they were decoded strictly
 * keys         what /.well-known/evenfold-keys.json answers, or null to leave the signature aside
 * checkpoints  those that were kept, of this table or of others
 *
 * Returns { ok: true, signed, table, version, head, shuffles, checkpoints } or { ok: false, line, code, told }; `signed`
 * says whether the signature was looked at. Throws an Error where nothing can be said of the record: Web Crypto is
 * missing, or keys or checkpoints are none.
 */
export async function verify(record, keys = null, checkpoints = []) {
  if (subtle === undefined) {
    throw new Error("crypto.subtle is missing: browsers have it in secure contexts (https) alone, Node from 18 on");
  }
  const known = keys === null ? null : await imported(keys);
  expectCheckpoints(checkpoints);
  try {
    return { ok: true, signed: known !== null, ...(await checked(record, known, checkpoints)) };
  } catch (wrong) {
    // What has another shape than a record meets the first line of ours that takes it for one.
    if (![Wrong, TypeError, RangeError, SyntaxError].some((kind) => wrong instanceof kind)) throw wrong;
    const { line, code, message } = wrong instanceof Wrong ? wrong : new Wrong(1, "not_a_record", String(wrong));
    return { ok: false, line, code, told: message };
  }
}

async function checked(record, keys, checkpoints) {
  // A decoder that puts U+FFFD in the place of what is no UTF-8 would make one text of many.
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const lines = (typeof record === "string" ? record : strict.decode(record)).split("\n");
  if (lines.pop() !== "" || lines.length < 3) {
    throw new Wrong(1, "not_a_record", "A record is a header line, entries and a trailer line, each ended by a newline.");
  }
  const codes = lines.map((_, index) => ({ 0: "header", [lines.length - 1]: "trailer" })[index] ?? "entry");
  const values = lines.map((line, index) => parsed(line, index + 1, codes[index]));
  const header = values[0];
  const trailer = values[values.length - 1];
  expectHeader(header);
  expectTrailer(lines.length, trailer);

  const entries = values.slice(1, -1);
  const stream = entries[0].stream;
  expect(typeof stream === "string" && /^table:[0-9a-hjkmnp-tv-z]{26}$/.test(stream), 2, "entry", "It names no table.");
  let head = await sha256(tag(TAGS.head), stream);
  const heads = [head];
  for (const [index, entry] of entries.entries()) {
    const line = index + 2;
    expectMembers(line, "entry", entry, MEMBERS.entry);
    expect(entry.log === 1 && entry.stream === stream && entry.version === index + 1, line, "order", "It does not follow.");
    expect(index === 0 || entry.at >= entries[index - 1].at, line, "order", "It is older than the entry before.");
    expect(typeof entry.salt === "string" && SALT.test(entry.salt), line, "entry", "The salt is not 128 bits in base64url.");
    expect(entry.key === null || isHex(entry.key, 32), line, "entry", "The key is neither null nor 64 digits of hex.");
    expect(entry.cause === null || (typeof entry.cause === "string" && CAUSE.test(entry.cause)), line, "entry",
      "The cause is neither null nor a stream and a version.");
    head = await sha256(tag(TAGS.head), head, lines[index + 1]);
    heads.push(head);
  }

  const table = seated(entries);
  const end = lines.length;
  expect(table.ended, end, "not_ended", "The log stops before play has ended.");
  expect(same(header.options, table.created.options), 1, "header", "The log has other options.");
  expect(header.ruleset === table.created.ruleset, 1, "header", "The log has another ruleset.");
  expect(same(header.players, table.players), 1, "header", "Others sit at the table.");
  for (const { id, salt, text } of header.texts) {
    const hash = hex(await sha256(tag(TAGS.text), bytes(salt), text));
    expect(table.texts.delete(`${id} ${hash}`), 1, "text", "The log has no hash of a text.");
  }
  expect(trailer.version === entries.length, end, "trailer", "The log has another length.");
  expect(trailer.head === hex(head), end, "chain", "The log chains up to another head.");
  expect(same(trailer.nonces, table.nonces), end, "trailer", "The players gave other nonces.");
  expect(trailer.seed === table.seed && trailer.seed === table.opened, end, "seed", "The seed differs.");

  const seed = bytes(trailer.seed);
  const commitment = await sha256(tag(TAGS.commit), sized(stream), seed);
  expect(hex(commitment) === table.created.commitment, 2, "seed", "The seed is not the one that was committed to.");
  const key = await hmac(seed, tag(TAGS.shuffle), sized(stream), ...trailer.nonces.map(sized));
  let deal = 0;
  for (const { line, c, order } of table.shuffles) {
    if (c >= NUMBERS_PER_DEAL && c % NUMBERS_PER_DEAL === 0) deal++;
    const next = c < NUMBERS_PER_DEAL || Math.floor(c / NUMBERS_PER_DEAL) === deal;
    expect(next, line, "shuffle", `Shuffle ${c} is not of deal ${deal}, which is the next.`);
    const again = await shuffled(key, printed(order, table.created.game), c);
    expect(same(again, order), line, "shuffle", `Shuffle ${c} gives another order.`);
  }

  await checkSignature(keys, header.key, bytes(trailer.signature), end,
    tag(TAGS.record), sized(stream), u64(trailer.version), head, await sha256(lines[0]));
  const kept = checkpoints.filter((checkpoint) => checkpoint.stream === stream);
  for (const { version, head: at_head, at, key: signer, signature } of kept) {
    const line = Math.min(version, entries.length) + 1;
    await checkSignature(keys, signer, bytes(signature), line,
      tag(TAGS.checkpoint), sized(stream), u64(version), bytes(at_head), u64(at));
    const there = version >= 1 && version <= entries.length && hex(heads[version]) === at_head;
    expect(there, line, "checkpoint", "A checkpoint that was kept is not of this log.");
  }
  return { table: stream.slice("table:".length), version: entries.length, head: hex(head),
    shuffles: table.shuffles.length, checkpoints: kept.length };
}

/* What the neutral events of a log say. */

function seated(entries) {
  const table = { created: null, players: [], nonces: [], seed: null, opened: null, ended: false, shuffles: [],
    texts: new Set() };
  for (const [index, { events }] of entries.entries()) {
    for (const event of events) {
      switch (event.type) {
        case "table.created":
          Object.assign(table, { created: event, players: Array(event.seats).fill(null), nonces: Array(event.seats).fill("") });
          break;
        case "table.seeded":
          table.seed = event.seed;
          break;
        case "table.seat_taken":
          table.players[event.seat] = event.player;
          table.nonces[event.seat] = event.nonce;
          break;
        case "table.seat_left":
          table.players[event.seat] = null;
          table.nonces[event.seat] = "";
          break;
        case "table.dispute_filed":
        case "table.ruled":
          if (event.text !== null) table.texts.add(`${event.text.id} ${event.text.hash}`);
          break;
        case "table.shuffled":
          table.shuffles.push({ line: index + 2, c: event.c, order: event.order });
          break;
        case "table.ended":
          table.ended = true;
          break;
        case "table.opened":
          table.opened = event.seed;
          break;
      }
    }
  }
  expect(table.created !== null && table.seed !== null, 2, "entry", "The first entry opens no table.");
  return table;
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

async function shuffled(key, pack, c) {
  const draw = draws(key, c);
  const order = [...pack];
  for (let last = order.length - 1; last > 0; last--) {
    const other = Number(await draw(BigInt(last + 1)));
    [order[last], order[other]] = [order[other], order[last]];
  }
  return order;
}

function draws(key, c) {
  let block = 0;
  let words = [];
  return async (bound) => {
    const rejected = 2n ** 64n - (2n ** 64n % bound);
    for (;;) {
      if (words.length === 0) {
        const view = new DataView((await hmac(key, u64(c), u64(block++))).buffer);
        words = [0, 8, 16, 24].map((at) => view.getBigUint64(at));
      }
      const word = words.shift();
      if (word < rejected) return word % bound;
    }
  };
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

async function checkSignature(known, id, signature, line, ...message) {
  if (known === null) return;
  const key = known.get(id);
  expect(key !== undefined, line, "unknown_key", "The key is not among those given.");
  const good = await subtle.verify("Ed25519", key, signature, joined(message));
  expect(good, line, "signature", "The signature is not that of the key.");
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

function expectTrailer(line, trailer) {
  expectMembers(line, "trailer", trailer, MEMBERS.trailer);
  expect(isHex(trailer.seed, 32), line, "trailer", "The seed is not 64 digits of hex.");
  expect(isHex(trailer.signature, 64), line, "trailer", "The signature is not 128 digits of hex.");
}

function expectMembers(line, code, value, names) {
  const object = value !== null && typeof value === "object" && !Array.isArray(value);
  expect(object && same(Object.keys(value), names), line, code, `Its members are not ${names.join(", ")}.`);
}

function expect(holds, line, code, told) {
  if (!holds) throw new Wrong(line, code, told);
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

const USAGE = "Usage: node verify.mjs RECORD KEYS [CHECKPOINTS]; --unsigned in the place of KEYS leaves signatures aside";

/* Tells whether Node was started with this file, whatever its name is, also by a link; else it was imported. */

async function isStarted() {
  const started = globalThis.process?.argv?.[1];
  if (started === undefined) return false;
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
  const unsigned = options.includes("--unsigned");
  if (unsigned) files.splice(1, 0, null);
  if (options.some((option) => option !== "--unsigned") || files.length < 2 || files.length > 3 || files[0] === null) {
    console.error(USAGE);
    return 2;
  }
  try {
    const { readFileSync } = await import("node:fs");
    const [record, keys, checkpoints] = files.map((file) => (file === null ? null : readFileSync(file)));
    const kept = String(checkpoints ?? "").split("\n").filter(Boolean).map((line) => JSON.parse(line));
    const found = await verify(record, keys === null ? null : JSON.parse(keys), kept);
    console.log(JSON.stringify(found));
    return found.ok ? 0 : 1;
  } catch (error) {
    console.error(String(error));
    return 2;
  }
}

if (await isStarted()) process.exitCode = await main(process.argv.slice(2));
