import { afterEach, expect, it } from "vitest";
import { createClient, createServer, type Listener, progress } from "../../core/index.js";
import { http } from "./http.js";

let listener: Listener | undefined;
afterEach(() => listener?.close());

/** A server with a call that lasts until it is let go, and which lets go of connections itself. */
async function served(): Promise<{ url: string; finish: () => void }> {
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const server = createServer({ name: "s", version: "1" }).tool("long", {}, async function* () {
    yield progress(1);
    await finished;
    return "done";
  });
  const options = { eras: ["legacy" as const], pollMs: 50 };
  listener = await http.listen(server, "http://127.0.0.1:0/mcp", options);
  return { url: listener.address, finish };
}

interface Talk {
  readonly session: string;
  post(body: object): Promise<Response>;
  get(last: string): Promise<Response>;
}

async function initialized(url: string, version: string): Promise<Talk> {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: "c", version: "1" } };
  const first = await fetch(url, {
    method: "POST",
    headers,
    body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }),
  });
  await first.text();
  const session = first.headers.get("mcp-session-id") ?? "";
  const all = { ...headers, "mcp-session-id": session, "mcp-protocol-version": version };
  const post = (body: object): Promise<Response> =>
    fetch(url, { method: "POST", headers: all, body: JSON.stringify({ jsonrpc: "2.0", ...body }) });
  await post({ method: "notifications/initialized" });
  return { session, post, get: (last) => fetch(url, { headers: { ...all, accept: "text/event-stream", "last-event-id": last } }) };
}

const call = { id: 1, method: "tools/call", params: { name: "long", arguments: {} } };
/** The same with progress, so that its answer is a stream for every client. */
const followed = { ...call, params: { ...call.params, _meta: { progressToken: "p" } } };
const lastId = (events: string): string =>
  events
    .match(/^id: .+$/gm)
    ?.at(-1)
    ?.slice(4) ?? "";

it("lets go of the connection of a call, which its client takes up again", async () => {
  const { url, finish } = await served();
  const talk = await initialized(url, "2025-11-25");
  const begun = await (await talk.post(call)).text();
  expect(begun).toMatch(/^id: \S+\nretry: \d+\ndata: \n\n/);
  expect(begun).not.toContain("result");
  const back = await talk.get(lastId(begun));
  expect(back.status).toBe(200);
  expect(await back.text()).not.toContain("result");
  finish();
  expect(await (await talk.get(lastId(begun))).text()).toContain('"done"');
});

it("keeps the connection of a client that would not come back", async () => {
  const { url, finish } = await served();
  const [old, young] = [await initialized(url, "2025-06-18"), await initialized(url, "2025-11-25")];
  let ended = false;
  const answer = old.post(followed).then(async (response) => {
    const text = await response.text();
    ended = true;
    return text;
  });
  // When a call that began later has been let go twice, this one would have been, too.
  const begun = await (await young.post(call)).text();
  await (await young.get(lastId(begun))).text();
  expect(ended).toBe(false);
  finish();
  expect(await answer).toContain('"done"');
});

it("is nothing that a client of ours notices", async () => {
  const { url, finish } = await served();
  await using client = await createClient(await http.dial(url, { era: "legacy" }));
  const seen: unknown[] = [];
  const result = client.callTool("long", {}, { onProgress: ({ progress: done }) => seen.push(done) });
  const other = await initialized(url, "2025-11-25");
  const begun = await (await other.post(call)).text();
  await (await other.get(lastId(begun))).text();
  finish();
  expect((await result).content).toEqual([{ type: "text", text: "done" }]);
  expect(seen).toEqual([1]);
});
