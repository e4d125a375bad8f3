import { parseArgs } from "node:util";
import { connect } from "../../dist/api/index.js";
import { eventually, Hung, marked, openClient, random, startBridge, startClient, wires, within } from "./parts.mjs";

// Kills servers, bridges and clients under load: npm run kills -- [--children N] [--bridges N] [--clients N] [--seed N]
const { values } = parseArgs({
  options: {
    children: { type: "string", default: "1000" },
    bridges: { type: "string", default: "100" },
    clients: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
  },
});
const pick = random(Number(values.seed));
/** Milliseconds after which a call counts as hung. */
const HUNG_MS = 40_000;
/** Milliseconds that what belonged to a killed process may live on. */
const ORPHAN_MS = 20_000;
const restart = { firstMs: 5, longestMs: 50, tries: 1_000_000 };
const texts = ({ content }) => content[0].text;
const totals = { answered: 0, failed: 0, hung: 0, crossed: 0, orphans: 0 };
const wrong = [];

/** Calls without a pause until it is told to stop. Each call is answered with its own secret, or fails. */
function caller(name, client, asked) {
  let on = true;
  const run = async () => {
    for (let count = 0; on; count++) {
      const secret = `${name} ${count}`;
      try {
        const text = texts(await within(client.callTool(asked && count % 4 === 0 ? "ask" : "slow", { secret, ms: 3 }), HUNG_MS, name));
        if (text === secret) totals.answered++;
        else totals.crossed++ < 5 && wrong.push(`${name}: got ${text} in place of ${secret}`);
      } catch (error) {
        if (error instanceof Hung) totals.hung++ < 5 && wrong.push(error.message);
        else totals.failed++;
        // A client that has lost its bridge fails at once: others need the time.
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  };
  const running = run();
  return async () => {
    on = false;
    await running;
    await within(client.close(), HUNG_MS, `closing ${name}`).catch((error) => wrong.push(error.message));
  };
}

async function callers(host, count) {
  const stops = [];
  for (let at = 0; at < count; at++) {
    const { client, asked, name } = await openClient(host, pick, { asked: at % 4 === 3, reconnectMs: 2_000 });
    stops.push(caller(`client ${at}, ${name}`, client, asked));
  }
  return () => Promise.all(stops.map((stop) => stop()));
}

async function orphansOf(mark) {
  await eventually(() => marked(mark).length === 0, ORPHAN_MS);
  const left = marked(mark);
  if (left.length > 0) wrong.push(`${left.length} processes left of ${mark}`);
  totals.orphans += left.length;
}

/** Kills the server behind a bridge again and again, under load. */
async function killChildren(times) {
  const bridge = await startBridge({ restart });
  const stop = await callers(bridge.host, 8);
  const killer = await connect(wires.http.at(bridge.host));
  const pid = () => within(killer.callTool("pid").then(texts), HUNG_MS, "the killer").catch(() => undefined);
  let last;
  for (let done = 0; done < times; ) {
    const found = await pid();
    if (found === undefined || found === last) continue;
    // Every fourth is of a client that has a server of its own.
    const others = marked(bridge.mark).filter((each) => each !== String(bridge.child.pid));
    const chosen = done % 4 === 3 ? others[pick(others.length)] : found;
    last = chosen;
    try {
      process.kill(Number(chosen), "SIGKILL");
      done++;
    } catch {
      // It has ended by itself.
    }
  }
  await stop();
  await killer.close();
  const { restarts } = await bridge.held();
  await bridge.stop();
  await orphansOf(bridge.mark);
  return `${times} kills of a server, ${restarts} restarts`;
}

async function killBridges(times) {
  for (let done = 0; done < times; done++) {
    const bridge = await startBridge();
    const stop = await callers(bridge.host, 4);
    await new Promise((resolve) => setTimeout(resolve, 20 + pick(100)));
    bridge.child.kill("SIGKILL");
    await stop();
    await orphansOf(bridge.mark);
  }
  return `${times} kills of a bridge`;
}

async function killClients(times) {
  // A modern client that is killed before it answers leaves a parked call, which waits for a person otherwise.
  const bridge = await startBridge({ clientIdleMs: 2_000, serve: { limits: { answerMs: 5_000 } } });
  const stop = await callers(bridge.host, 4);
  const names = Object.keys(wires);
  for (let done = 0; done < times; done++) {
    const { at, eras, options } = wires[names[done % names.length]];
    const child = await startClient(at(bridge.host), { era: eras[pick(eras.length)], ...options, asks: pick(2) === 0 });
    await new Promise((resolve) => setTimeout(resolve, pick(50)));
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  }
  await stop();
  // Only the shared session stays. Those of the pool go when they were unused for a minute.
  await eventually(async () => (await bridge.held()).sessions <= 1, 120_000);
  const left = (await bridge.held()).sessions - 1;
  if (left > 0) wrong.push(`${left} sessions left of clients that were killed`);
  await bridge.stop();
  await orphansOf(bridge.mark);
  return `${times} kills of a client, ${Math.max(left, 0)} sessions left`;
}

for (const [run, times] of [
  [killChildren, Number(values.children)],
  [killBridges, Number(values.bridges)],
  [killClients, Number(values.clients)],
]) {
  if (times === 0) continue;
  const before = { ...totals };
  const began = Date.now();
  const told = await run(times);
  const since = Object.entries(totals).map(([name, count]) => `${count - before[name]} ${name}`);
  console.log(`${told}: calls and processes: ${since.join(", ")} (${Math.round((Date.now() - began) / 1000)} s)`);
}
for (const line of wrong) console.log(`  ${line}`);
process.exit(wrong.length === 0 && totals.hung + totals.crossed + totals.orphans === 0 ? 0 : 1);
