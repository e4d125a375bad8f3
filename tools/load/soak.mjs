import { parseArgs } from "node:util";
import { eventually, openClient, random, startBridge, within } from "./parts.mjs";

// Many calls of clients that come and go, through one bridge: npm run soak -- [--calls N] [--clients N] [--seed N] [--minutes N]
const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "1000000" },
    clients: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    minutes: { type: "string", default: "55" },
  },
});
const calls = Number(values.calls);
const slots = Number(values.clients);
const until = Date.now() + Number(values.minutes) * 60_000;
const pick = random(Number(values.seed));
const CALL_MS = 60_000;
const MOST = 1.1;

const bridge = await startBridge({ clientIdleMs: 10_000 });
const counts = { made: 0, refused: 0, hung: 0, wrong: 0, clients: 0 };
const wrong = [];

/** What a client may do: each gives what it was answered, and should be. */
const doings = [
  async (client, secret) => [(await client.callTool("echo", { secret })).content[0].text, secret],
  async (client, secret) => [(await client.callTool("echo", { secret })).content[0].text, secret],
  async (client, secret) => [(await client.callTool("echo", { secret })).content[0].text, secret],
  async (client, secret) => [(await client.callTool("slow", { secret, ms: 5 })).content[0].text, secret],
  async (client, secret) => {
    const heard = new Set();
    const result = await client.callTool("progress", { secret }, { onProgress: ({ message }) => heard.add(message) });
    return [[...heard, result.content[0].text].find((text) => text !== secret) ?? secret, secret];
  },
  async (client, secret) => [(await client.readResource(`test://${secret}`)).contents[0].text, `test://${secret}`.repeat(64)],
  async (client) => [await client.callTool("fail").catch((fault) => fault.message), "as told"],
  async (client, secret) => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 2);
    const outcome = await client.callTool("slow", { secret, ms: 50 }, { signal: abort.signal }).catch((fault) => fault.code);
    // On a busy machine the answer may be first.
    return [typeof outcome === "string" ? outcome : "cancelled", "cancelled"];
  },
  async (client) => {
    const names = [];
    for await (const { name } of client.tools()) names.push(name);
    return [names.join(), "echo,pid,slow,fail,progress,ask"];
  },
];
const ask = async (client, secret) => [(await client.callTool("ask", { secret })).content[0].text, secret];

async function oneClient(goal) {
  const { client, asked, name } = await within(openClient(bridge.host, pick), CALL_MS, "a connection");
  counts.clients++;
  try {
    for (let left = 1 + pick(400); left > 0 && counts.made < goal; left--) {
      counts.made++;
      const secret = `${counts.clients}-${counts.made}`;
      const doing = asked && pick(10) === 0 ? ask : doings[pick(doings.length)];
      const [is, should] = await within(doing(client, secret), CALL_MS, `a call over ${name}`);
      if (is === should) continue;
      counts.wrong++;
      wrong.push(`${name}: got ${String(is).slice(0, 100)} in place of ${String(should).slice(0, 100)}`);
    }
  } finally {
    await client.close();
  }
}

async function upTo(goal) {
  const slot = async () => {
    while (counts.made < goal && Date.now() < until) {
      try {
        await oneClient(goal);
      } catch (error) {
        counts[error.name === "Error" && String(error.message).includes("hung") ? "hung" : "refused"]++;
        wrong.push(String(error.message));
      }
    }
  };
  await Promise.all(Array.from({ length: slots }, slot));
}

/**
 * What the bridge holds when its clients have gone. Once the sessions of the pool were unused for a minute, two sessions with the server are
 * left: the shared one, and that on which clients that can be asked list.
 */
async function resting() {
  await eventually(async () => (await bridge.held()).sessions <= 2, 120_000);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const held = await bridge.held();
  const handles = held.handles.filter((name) => name !== "Timeout" && name !== "Immediate").length;
  return { ...held, handles };
}
const mib = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
/** V8 goes on compiling for as long as calls take new turns. */
const dataOf = ({ heapUsed, code }) => heapUsed - code;
const told = (title, { heapUsed, code, rss, handles, sessions, children }) =>
  console.log(
    `${title}: heap ${mib(heapUsed)} (${mib(code)} of it compiled code), RSS ${mib(rss)}, ${handles} handles, ${sessions} sessions, ${children} children`,
  );

told("at the start", await resting());
const began = Date.now();
// In the first tens of thousands most of what is added is compiled code.
await upTo(Math.min(100_000, calls / 2));
const first = await resting();
told(`after ${counts.made} calls`, first);
await upTo(calls);
const last = await resting();
told(`after ${counts.made} calls`, last);
await bridge.stop();
const ratio = (first, last) => (last / first).toFixed(3);
console.log(
  `${counts.made} calls of ${counts.clients} clients in ${Math.round((Date.now() - began) / 1000)} s: ${counts.wrong} wrong, ${counts.refused} failed, ${counts.hung} hung`,
);
for (const line of [...new Set(wrong)].slice(0, 10)) console.log(`  ${line}`);
console.log(
  `heap without compiled code ${ratio(dataOf(first), dataOf(last))}x, RSS ${ratio(first.rss, last.rss)}x (at most ${MOST}x), leaked handles ${last.handles - first.handles}`,
);
const good =
  dataOf(last) <= dataOf(first) * MOST &&
  last.rss <= first.rss * MOST &&
  last.handles <= first.handles &&
  last.sessions <= 2 &&
  wrong.length === 0;
process.exit(good ? 0 : 1);
