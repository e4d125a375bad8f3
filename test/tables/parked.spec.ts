import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createServer, elicit, type JsonObject, type Server, serve } from "../../src/api/index.js";
import { patience } from "../fixtures/children/index.js";
import { modern } from "../http/requests.js";
import { websocket } from "../relay/raw/websocket.js";
import { type Answer, callFrom } from "./from.js";

const auth = { verify: (token: string) => ({ id: token }) };
const as = (name: string): Record<string, string> => ({ authorization: `Bearer ${name}` });
const [HERE, THERE] = ["127.0.0.1", "127.0.0.2"];
const able = { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } };

/** Asks in its one tool, and has more tools than fit on a page. */
function sample(): Server {
  return createServer({ name: "sample", version: "1" }).tools({
    async *list() {
      for (let at = 0; at < 10; at++) yield { name: `t${at}`, inputSchema: { type: "object" } };
    },
    async *call() {
      const { content } = yield* elicit({ message: "Who?", requestedSchema: { type: "object", properties: {} } });
      return String(content?.["name"]);
    },
  });
}

const ask = (more: JsonObject = {}, _meta: JsonObject = {}): JsonObject =>
  modern(1, "tools/call", { name: "t0", arguments: {}, ...more, _meta: { ...able, ..._meta } });
const list = (cursor?: unknown): JsonObject => modern(1, "tools/list", cursor === undefined ? {} : { cursor });

/** What goes back to the one who was asked. */
function answered({ result }: { readonly result?: JsonObject }, name: string): JsonObject {
  const { inputRequests, requestState } = result as { inputRequests: JsonObject; requestState: string };
  return ask({ requestState, inputResponses: { [Object.keys(inputRequests)[0] as string]: { action: "accept", content: { name } } } });
}

const waits = { result: { resultType: "input_required" } };
const told = (name: string): JsonObject => ({ body: { result: { content: [{ type: "text", text: name }] } } });
const full = (limit: string, max: number): JsonObject => ({ error: { data: { limit, max } } });

afterEach(() => void vi.restoreAllMocks());

describe("questions that wait for their answers", () => {
  it("of one principal are not ended by those of another, who is refused", async () => {
    await using listener = await serve(sample(), "http://127.0.0.1:0", { auth, drainMs: 0 });
    const { address } = listener;
    const mine = await callFrom(HERE, address, ask(), as("b"));
    const theirs: Answer[] = [];
    for (let count = 0; count < 260; count++) theirs.push(await callFrom(HERE, address, ask(), as("a")));
    for (const { body } of theirs.slice(0, 256)) expect(body).toMatchObject(waits);
    for (const { body } of theirs.slice(256)) expect(body).toMatchObject(full("parkedPerCaller", 256));
    expect((await callFrom(HERE, address, ask(), as("c"))).body).toMatchObject(waits);
    expect(await callFrom(HERE, address, answered(mine.body, "Ada"), as("b"))).toMatchObject(told("Ada"));
    // None of the first caller's own was ended either, and an answer gives a place back.
    expect(await callFrom(HERE, address, answered((theirs[0] as Answer).body, "Bob"), as("a"))).toMatchObject(told("Bob"));
    expect((await callFrom(HERE, address, ask(), as("a"))).body).toMatchObject(waits);
  });

  it("of callers without a principal count for the address that they come from", async () => {
    await using listener = await serve(sample(), "http://127.0.0.1:0", { limits: { parkedPerPrincipal: 3 }, drainMs: 0 });
    const { address } = listener;
    for (let count = 0; count < 3; count++) expect((await callFrom(HERE, address, ask())).body).toMatchObject(waits);
    expect((await callFrom(HERE, address, ask())).body).toMatchObject(full("parkedPerPrincipal", 3));
    expect((await callFrom(THERE, address, ask())).body).toMatchObject(waits);
  });

  it("make room for the next of the same caller after a minute", async () => {
    await using listener = await serve(sample(), "http://127.0.0.1:0", { auth, limits: { parkedPerCaller: 2 }, drainMs: 0 });
    const { address } = listener;
    const [first, second] = [await callFrom(HERE, address, ask(), as("a")), await callFrom(HERE, address, ask(), as("a"))];
    expect((await callFrom(HERE, address, ask(), as("a"))).body).toMatchObject(full("parkedPerCaller", 2));
    const now = Date.now.bind(Date);
    vi.spyOn(Date, "now").mockImplementation(() => now() + 61_000);
    expect((await callFrom(HERE, address, ask(), as("a"))).body).toMatchObject(waits);
    expect((await callFrom(HERE, address, answered(first.body, "late"), as("a"))).body).toMatchObject({ error: { code: -32602 } });
    expect(await callFrom(HERE, address, answered(second.body, "Ada"), as("a"))).toMatchObject(told("Ada"));
  });

  it("wait for people, while lists do not", async () => {
    await using listener = await serve(sample(), "http://127.0.0.1:0", { pageSize: 2, limits: { parkedMs: 20 }, drainMs: 0 });
    const { address } = listener;
    const question = await callFrom(HERE, address, ask());
    const page = await callFrom(HERE, address, list());
    const began = Date.now();
    await vi.waitFor(() => expect(Date.now() - began).toBeGreaterThan(60), patience);
    expect((await callFrom(HERE, address, list(page.body.result?.["nextCursor"]))).body).toMatchObject({ error: { code: -32602 } });
    expect(await callFrom(HERE, address, answered(question.body, "Ada"))).toMatchObject(told("Ada"));
  });

  it("of one client of a relay leave room for those of another", async () => {
    await using listener = await serve(sample(), "ws://127.0.0.1:0", { limits: { parkedPerCaller: 2 }, drainMs: 0 });
    const heard: JsonObject[] = [];
    const socket = await websocket.client(listener.address, "modern", (text) => void heard.push(JSON.parse(text) as JsonObject));
    const outcomes: unknown[] = [];
    for (const [id, key] of ["a", "a", "a", "b"].entries()) {
      socket.send(JSON.stringify({ ...ask({}, { "dev.anywire/caller": { key } }), id }));
      outcomes.push(await vi.waitUntil(() => heard.find((message) => message["id"] === id), patience));
    }
    expect(outcomes).toMatchObject([waits, waits, full("parkedPerCaller", 2), waits]);
    await socket.close();
  });
});

it("a question of a server on stdio ends with its input", async () => {
  const program = `
    import { createServer, elicit, serve } from ${JSON.stringify(new URL("../../dist/api/index.js", import.meta.url).href)};
    const server = createServer({ name: "s", version: "1" }).tool("t0", {}, async function* () {
      try {
        yield* elicit({ message: "Who?", requestedSchema: { type: "object", properties: {} } });
      } finally {
        console.error("left");
      }
    });
    await serve(server, "stdio:");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["pipe", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => void (stdout += String(chunk)));
  child.stderr.on("data", (chunk) => void (stderr += String(chunk)));
  child.stdin.write(`${JSON.stringify(ask())}\n`);
  await vi.waitFor(() => expect(stdout).toContain("input_required"), patience);
  expect(stderr).toBe("");
  child.stdin.end();
  expect(await once(child, "exit")).toEqual([0, null]);
  expect(stderr).toBe("left\n");
});

describe("lists between two pages", () => {
  it("make room for the next of the same caller, and for nobody else's", async () => {
    const limits = { parkedPerCaller: 2 };
    await using listener = await serve(sample(), "http://127.0.0.1:0", { auth, pageSize: 2, limits, drainMs: 0 });
    const { address } = listener;
    const page = async (who: string, cursor?: unknown): Promise<Answer["body"]> =>
      (await callFrom(HERE, address, list(cursor), as(who))).body;
    const mine = await page("b");
    const theirs: JsonObject[] = [];
    for (let count = 0; count < 5; count++) theirs.push((await page("a")).result as JsonObject);
    expect(await page("a", theirs[2]?.["nextCursor"])).toMatchObject({ error: { code: -32602 } });
    for (const whose of [theirs[3], theirs[4]])
      expect((await page("a", whose?.["nextCursor"])).result?.["tools"]).toMatchObject([{ name: "t2" }, { name: "t3" }]);
    // A cursor is its principal's alone.
    expect(await page("a", mine.result?.["nextCursor"])).toMatchObject({ error: { code: -32602 } });
    expect((await page("b", mine.result?.["nextCursor"])).result?.["tools"]).toMatchObject([{ name: "t2" }, { name: "t3" }]);
  });
});
