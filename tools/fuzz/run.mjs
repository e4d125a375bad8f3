// Sends bad frames to every wire, on both sides: 100,000 each unless told otherwise. A peer must neither end, nor hang, nor grow.
import { fork } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { connect } from "../../dist/api/index.js";
import { attacks } from "./attacks.mjs";
import { clientMessages } from "./messages.mjs";
import { frameOf, random } from "./mutate.mjs";
import { badServers } from "./servers.mjs";

const usage = `npm run fuzz -- [options]
  --count <frames>   for each wire and side; 100000 unless given
  --seed <n>         the same seed sends the same frames
  --only <names>     such as http-server,stdio-client
  --minutes <n>      for all of it; 30 unless given`;
const options = {
  count: { type: "string", default: "100000" },
  seed: { type: "string" },
  only: { type: "string" },
  minutes: { type: "string", default: "30" },
  help: { type: "boolean" },
};

function given() {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(`${error.message}\n${usage}`);
    return process.exit(2);
  }
}
const values = given();
if (values.help) {
  console.log(usage);
  process.exit();
}
const count = Number(values.count);
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
const until = Date.now() + Number(values.minutes) * 60_000;
/** Milliseconds after which a peer that does not answer hangs. */
const HANG = 15_000;
/** Frames between two looks at the peer. */
const BATCH = 1000;
/** What it may hold at the end over what it held after a tenth. */
const GROWTH = 1.25;
/** Bytes of growth that are no matter: of caches, and of the compiler. */
const SLACK = 8 * 1024 ** 2;

const file = (name) => fileURLToPath(new URL(`./${name}.mjs`, import.meta.url));

function start(name, args, stdio = ["ignore", "inherit", "inherit", "ipc"]) {
  const child = fork(file(name), args, { execArgv: ["--expose-gc"], stdio });
  child.exited = once(child, "exit").then(([code, signal]) => {
    throw new Error(`the peer ended with ${signal ?? code}`);
  });
  child.exited.catch(() => {});
  return child;
}

function within(promise, what) {
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took more than ${HANG / 1000} s`)), HANG);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function asked(child, question) {
  child.send(question);
  return (await within(Promise.race([once(child, "message"), child.exited]), "telling its memory"))[0];
}

/** Sends batch after batch, looks after each whether the peer is well, and gives what it held. */
async function batches(child, send, well) {
  const held = [];
  let sent = 0;
  while (sent < count && Date.now() < until) {
    const batch = Math.min(BATCH, count - sent);
    await Promise.race([send(batch), child.exited]);
    await Promise.race([within(well(), "answering a good call"), child.exited]);
    sent += batch;
    if (sent % Math.max(BATCH, Math.floor(count / 10)) === 0) held.push((await asked(child, "memory")).memory);
  }
  return { sent, held };
}

const addresses = {
  http: "http://127.0.0.1:0/mcp",
  sse: "sse+http://127.0.0.1:0/sse",
  ws: "ws://127.0.0.1:0/mcp",
  proto: "proto+tcp://127.0.0.1:0",
  tunnel: "tunnel+grpc://127.0.0.1:0",
  session: "grpc://127.0.0.1:0",
  unary: "grpc://127.0.0.1:0",
};

async function attackServer(wire, rng) {
  const child = start("target-server", [addresses[wire]]);
  const [{ address }] = await Promise.race([once(child, "message"), child.exited]);
  const neighbour = await connect(address);
  try {
    return await batches(child, attacks[wire](address, rng), async () => {
      if ((await neighbour.callTool("echo", { text: "well" })).content[0].text !== "well")
        throw new Error("another answer than the neighbour's");
    });
  } finally {
    await neighbour.close().catch(() => {});
    child.removeAllListeners("exit");
    child.kill("SIGKILL");
  }
}

/** On stdio there is no neighbour: the attacker's own good call is answered. */
async function attackStdio(rng) {
  const child = start("target-server", ["stdio:"], ["pipe", "pipe", "inherit", "ipc"]);
  await Promise.race([once(child, "message"), child.exited]);
  const waiting = new Map();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id } = JSON.parse(line);
    waiting.get(id)?.();
    waiting.delete(id);
  });
  child.stdin.on("error", () => {});
  let nr = 0;
  const write = async (bytes) => {
    if (!child.stdin.write(bytes)) await once(child.stdin, "drain");
  };
  try {
    return await batches(
      child,
      async (batch) => {
        for (let left = batch; left > 0; left--) await write(Buffer.concat([frameOf(rng.one(clientMessages), rng), Buffer.from("\n")]));
      },
      () =>
        new Promise((resolve) => {
          const id = `well-${nr++}`;
          waiting.set(id, resolve);
          void write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })}\n`);
        }),
    );
  } finally {
    child.kill("SIGKILL");
  }
}

/** Our client at the address of a bad server, call after call. */
async function attackClient(wire, rng) {
  const server = await badServers[wire](rng);
  const child = start("target-client", [JSON.stringify(server.address)]);
  try {
    const held = [];
    let tenth = 1;
    let settled = 0;
    while (server.sent() < count && Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      if (server.sent() < (tenth * count) / 10) continue;
      tenth++;
      const said = await asked(child, "memory");
      if (said.hung > 0) throw new Error(`${said.hung} calls hang`);
      settled = said.settled;
      held.push(said.memory);
    }
    if (settled === 0) throw new Error("no call was settled");
    return { sent: server.sent(), held };
  } finally {
    child.kill("SIGKILL");
    await server.close();
  }
}

const runs = [
  ["stdio, our server", attackStdio],
  ...Object.keys(attacks).map((wire) => [`${wire}, our server`, (rng) => attackServer(wire, rng)]),
  ...Object.keys(badServers).map((wire) => [`${wire}, our client`, (rng) => attackClient(wire, rng)]),
];
const only = values.only?.split(",");
let failed = 0;
console.log(`seed ${seed}, ${count.toLocaleString("en-US")} frames a wire and side`);
for (const [name, run] of runs) {
  if (only !== undefined && !only.includes(name.replace(", our ", "-"))) continue;
  const began = Date.now();
  let said;
  try {
    const { sent, held } = await run(random(seed));
    const [early, last] = [held[0] ?? 0, held.at(-1) ?? 0];
    const grown = last > early * GROWTH + SLACK;
    const short = sent < count;
    if (grown || short) failed++;
    const mib = (bytes) => (bytes / 1024 ** 2).toFixed(1);
    said = `${short ? "SHORT" : grown ? "GREW" : "ok"}  ${sent.toLocaleString("en-US")} frames, ${mib(early)} -> ${mib(last)} MiB held`;
  } catch (error) {
    failed++;
    said = `FAILED  ${error.message}`;
  }
  console.log(`${name.padEnd(24)} ${said}, ${((Date.now() - began) / 1000).toFixed(0)} s`);
}
console.log(failed === 0 ? "no crash, no hang, memory flat" : `${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
