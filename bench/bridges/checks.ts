import { performance } from "node:perf_hooks";
import { child } from "../child.js";
import { format } from "../figure.js";
import { type Message, RawClient } from "./client.js";
import { boundTo, descendants, residentOf } from "./proc.js";
import { type BridgeProgram, type RunningProgram, startProgram } from "./programs.js";

/** Something that users rely on. `run` says what a bridge does; `good` is what ours has to. */
export interface Check {
  readonly name: string;
  readonly good: string;
  /** Whether what it does is good, where that is not one text. */
  passes?(seen: string): boolean;
  /** Whether the program is to choose where it listens. */
  readonly defaults?: boolean;
  run(at: RunningProgram): Promise<string>;
}

const MB = 1_000_000;
const PATIENCE_MS = 5000;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const progressOf = (messages: readonly Message[], token: string): number =>
  messages.filter(({ params }) => params?.progressToken === token).length;

/** Progress notifications of a call that came before its result. */
const progress =
  (tool: string, count: number): Check["run"] =>
  async ({ url }) => {
    const client = await RawClient.open(url);
    let worst = count;
    for (let round = 0; round < 6; round++) {
      const { messages } = await client.call(tool, {}, { token: `token-${round}` });
      const before = messages.slice(
        0,
        messages.findIndex(({ result }) => result !== undefined),
      );
      worst = Math.min(worst, progressOf(before, `token-${round}`));
    }
    client.close();
    return `${worst}/${count}`;
  };

export const checks: readonly Check[] = [
  { name: "paced progress, the worst of 6 calls", good: "4/4", run: progress("paced", 4) },
  { name: "burst of 20 progress, the worst of 6 calls", good: "20/20", run: progress("burst", 20) },
  {
    name: "progress of 2 concurrent calls",
    good: "right stream",
    async run({ url }) {
      const client = await RawClient.open(url);
      const [a, b] = await Promise.all([client.call("paced", {}, { token: "a" }), client.call("paced", {}, { token: "b" })]);
      client.close();
      const right = progressOf(a.messages, "a") >= 3 && progressOf(b.messages, "b") >= 3;
      const mixed = progressOf(a.messages, "b") + progressOf(b.messages, "a") > 0;
      return mixed ? "mixed" : right ? "right stream" : "lost";
    },
  },
  {
    name: "client A's results or logs reach B",
    good: "never",
    async run({ url }) {
      const [a, b] = await Promise.all([RawClient.open(url), RawClient.open(url)]);
      const heard: string[] = [];
      const stream = b.listen((message) => heard.push(JSON.stringify(message)));
      await pause(300);
      for (let round = 0; round < 5; round++) await a.call("log", { text: "A's secret" });
      await a.call("echo", { text: "A's secret" });
      await pause(500);
      stream.request.destroy();
      a.close();
      b.close();
      return heard.some((text) => text.includes("A's secret")) ? "yes" : "never";
    },
  },
  {
    name: 'string id "abc"',
    good: '"abc"',
    async run({ url }) {
      const client = await RawClient.open(url);
      const { messages } = await client.call("echo", { text: "x" }, { id: "abc" });
      client.close();
      return JSON.stringify(messages.at(-1)?.id ?? null);
    },
  },
  {
    name: "cancel where two clients use one id",
    good: "1 known, 0 unknown",
    async run({ url }) {
      const [a, b] = await Promise.all([RawClient.open(url), RawClient.open(url)]);
      const calls = [a, b].map((client) => client.post("tools/call", { name: "hang", arguments: {} }, { id: 7000 }));
      await pause(300);
      await b.notify("notifications/cancelled", { requestId: 7000, reason: "enough" });
      await pause(300);
      const seen = await b.text("cancels").catch(() => "no answer");
      for (const { request } of calls) request.destroy();
      a.close();
      b.close();
      return seen;
    },
  },
  {
    name: "vendor method; unknown members",
    good: "passes; kept",
    async run({ url }) {
      const client = await RawClient.open(url);
      const { messages } = await client.post("vendor/echo", { own: { deep: null } }).answer;
      const last = messages.at(-1);
      const passes = JSON.stringify(last?.result?.["given"]) === '{"own":{"deep":null}}';
      const echoed = (await client.call("echo", { text: "x" })).messages.at(-1)?.result;
      client.close();
      const kept = JSON.stringify(echoed?.["vendorMember"]) === '{"kept":null}';
      return `${passes ? "passes" : (last?.error?.code ?? "lost")}; ${kept ? "kept" : "dropped"}`;
    },
  },
  {
    name: "call of 200 kB / 5 MB",
    good: "ok / ok",
    async run({ url }) {
      const client = await RawClient.open(url);
      const sizes: string[] = [];
      for (const size of [200_000, 5 * MB]) {
        const { status, messages } = await client.call("size", { text: "x".repeat(size) });
        const length = messages.at(-1)?.result?.content?.[0]?.text;
        sizes.push(length === String(size) ? "ok" : String(status));
      }
      client.close();
      return sizes.join(" / ");
    },
  },
  {
    name: "child dies with 4 calls open",
    good: "4 errors in <= 250 ms, same session works",
    passes: (seen) => Number(/^4 errors in (\d+) ms, same session works$/.exec(seen)?.[1]) <= 250,
    async run({ url }) {
      const client = await RawClient.open(url);
      const began = performance.now();
      let [errors, at] = [0, began];
      const call = async (name: string): Promise<void> => {
        const answer = await client.call(name).catch(() => undefined);
        if (answer !== undefined && answer.messages.at(-1)?.error === undefined && answer.status < 400) return;
        errors++;
        at = performance.now();
      };
      const calls = ["hang", "hang", "hang"].map(call);
      await pause(300);
      const dying = performance.now();
      calls.push(call("die"));
      await Promise.race([Promise.all(calls), pause(PATIENCE_MS)]);
      const after = async (who: RawClient): Promise<boolean> =>
        Promise.race([who.text("echo", { text: "back" }).then((text) => text === "back"), pause(PATIENCE_MS).then(() => false)]).catch(
          () => false,
        );
      const works = (await after(client))
        ? "same session works"
        : (await RawClient.open(url).then(after, () => false))
          ? "new session works"
          : "never back";
      client.close();
      return `${errors} errors${errors === 0 ? "" : ` in ${format(at - dying)} ms`}, ${works}`;
    },
  },
  {
    name: "resume after a drop",
    good: "20/20 and the result, once and in order",
    async run({ url }) {
      const client = await RawClient.open(url);
      const got: number[] = [];
      let last: string | undefined;
      let results = 0;
      const take = (message: Message, event: string | undefined): void => {
        last = event ?? last;
        if (message.params?.progressToken === "resumed") got.push(message.params.progress ?? 0);
        if (message.result !== undefined) results++;
      };
      const params = { name: "steady", arguments: {}, _meta: { progressToken: "resumed" } };
      const first = client.post("tools/call", params, { onMessage: take });
      const until = performance.now() + PATIENCE_MS;
      while (got.length < 5 && performance.now() < until) await pause(10);
      first.request.destroy();
      await pause(300);
      if (last === undefined) return "no event ids";
      const back = client.listen(take, last);
      while (results === 0 && performance.now() < until) await pause(10);
      back.request.destroy();
      client.close();
      const ordered = got.every((each, at) => at === 0 || each > (got[at - 1] as number));
      return `${new Set(got).size}/20${results === 1 ? " and the result" : " without the result"}${ordered && results === 1 ? ", once and in order" : ""}`;
    },
  },
  {
    name: "foreign Host / Origin",
    good: "403 / 403",
    async run({ url }) {
      const statuses: number[] = [];
      for (const headers of [{ host: "evil.example" }, { origin: "https://evil.example" }]) {
        const client = new RawClient(url);
        statuses.push((await client.initialize(headers)).status);
        client.close();
      }
      return statuses.join(" / ");
    },
  },
  {
    name: "bound to unless told otherwise",
    good: "loopback",
    defaults: true,
    async run({ pid }) {
      const addresses = boundTo(pid);
      return addresses.some((address) => /^0+$/.test(address)) ? "all interfaces" : addresses.length > 0 ? "loopback" : "nothing";
    },
  },
  {
    name: "200 MB for a client that does not read: memory grows by",
    good: "<= 64 MB",
    passes: (seen) => Number(/^(\d+) MB$/.exec(seen)?.[1]) <= 64,
    async run({ url, pid }) {
      const client = await RawClient.open(url);
      await client.text("echo", { text: "warm" });
      const before = residentOf(pid);
      const { request } = client.post("tools/call", { name: "flood", arguments: {}, _meta: { progressToken: "flood" } });
      request.on("response", (response) => response.pause().removeAllListeners("data"));
      let most = before;
      for (let at = 0; at < 80; at++) {
        await pause(100);
        most = Math.max(most, residentOf(pid));
      }
      request.destroy();
      client.close();
      return `${format((most - before) / MB)} MB`;
    },
  },
  {
    name: "50 sessions",
    good: "<= 3 processes",
    passes: (seen) => Number(/^(\d+) processes/.exec(seen)?.[1]) <= 3,
    async run({ url, pid }) {
      const clients: RawClient[] = [];
      for (let at = 0; at < 50; at += 5) clients.push(...(await Promise.all(Array.from({ length: 5 }, () => RawClient.open(url, 1)))));
      await Promise.all(clients.map((client) => client.text("echo", { text: "there" })));
      const processes = descendants(pid);
      const bytes = [pid, ...processes].reduce((sum, each) => sum + residentOf(each), 0);
      for (const client of clients) client.close();
      return `${processes.length} processes, ${format(bytes / MB)} MB with the bridge`;
    },
  },
];

/** What a bridge does in each of the checks, each with a bridge of its own, so that none suffers from another. */
export async function tried(program: BridgeProgram, each: readonly Check[]): Promise<string[]> {
  const { command, args } = child("raw-stdio");
  const seen: string[] = [];
  for (const check of each) {
    const chosen = check.defaults === true && program.defaults !== undefined ? { ...program, arguments: program.defaults } : program;
    await using at = await startProgram(chosen, [command, ...args]);
    seen.push(await check.run(at).catch((error: Error) => `failed: ${error.message}`));
  }
  return seen;
}
