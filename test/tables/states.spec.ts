import { describe, expect, it } from "vitest";
import { createServer, elicit, type JsonObject, type Listener, type Server, serve, wireFor } from "../../src/api/index.js";
import { modern, postModern, type Rpc, rpc } from "../http/requests.js";
import { httpServer } from "../relay/raw/http-server.js";

const auth = { verify: (token: string) => ({ id: token }) };
const as = (name: string): Record<string, string> => ({ authorization: `Bearer ${name}` });
const able = { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } };
const ask = (more: JsonObject = {}): JsonObject => modern(1, "tools/call", { name: "ask", arguments: {}, ...more, _meta: able });
const call = (address: string, body: JsonObject, headers: Record<string, string> = {}): Promise<Rpc> =>
  rpc(postModern(address, body, headers));
const invalid = { error: { code: -32602, message: expect.stringContaining("requestState") } };

function retry({ result }: Rpc, requestState: unknown = result?.["requestState"]): JsonObject {
  const [key] = Object.keys(result?.["inputRequests"] as JsonObject);
  return ask({ requestState, inputResponses: { [key as string]: { action: "accept", content: { name: "Ada" } } } });
}

function asking(): Server & { readonly runs: () => number } {
  let runs = 0;
  const server = createServer({ name: "asking", version: "1" }).tool("ask", {}, async function* () {
    runs++;
    const { content } = yield* elicit({ message: "Who?", requestedSchema: { type: "object", properties: {} } });
    return String(content?.["name"]);
  });
  return Object.assign(server, { runs: () => runs });
}

async function relay(upstream: string, options: object = {}): Promise<Listener> {
  const wire = await wireFor(upstream);
  const connection = await wire.dial(upstream, { era: "modern" });
  const listener = await serve(connection, "http://127.0.0.1:0", { drainMs: 0, ...options });
  void listener.closed.then(() => connection.close());
  return listener;
}

/** A modern server that is not Anywire's: it keeps nothing, and its state is a text of its own. */
async function stateless(state: string): Promise<{ address: string; heard: JsonObject[] } & AsyncDisposable> {
  const heard: JsonObject[] = [];
  const server = await httpServer("modern", (text) => {
    const { id, method, params } = JSON.parse(text) as { id?: number; method: string; params: JsonObject };
    if (id === undefined) return;
    if (method === "tools/call") heard.push(params);
    const asked = {
      resultType: "input_required",
      inputRequests: { who: { method: "elicitation/create", params: {} } },
      requestState: state,
    };
    const done = { resultType: "complete", content: [{ type: "text", text: "done" }] };
    const found = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
    const result = method !== "tools/call" ? found : params["requestState"] === undefined ? asked : done;
    server.send(JSON.stringify({ jsonrpc: "2.0", id, result }), String(id));
  });
  return { address: String(server.address), heard, [Symbol.asyncDispose]: () => server.close() };
}

describe("a state that was not given here", () => {
  it("is refused if it has Anywire's mark, and the call is not run again", async () => {
    const server = asking();
    await using first = await serve(server, "http://127.0.0.1:0", { drainMs: 0 });
    const required = await call(first.address, ask());
    // The server was started anew, or it is another one behind the same address.
    await using second = await serve(server, "http://127.0.0.1:0", { drainMs: 0 });
    const state = required.result?.["requestState"] as string;
    for (const bad of [state, state.replace(/^aw1\.\w/, "aw1.-"), "aw1.", "aw1.x"])
      expect(await call(second.address, retry(required, bad))).toMatchObject(invalid);
    expect(server.runs()).toBe(1);
    expect(await call(first.address, retry(required))).toMatchObject({ result: { content: [{ text: "Ada" }] } });
  });

  it("is refused through a relay too", async () => {
    const server = asking();
    await using behind = await serve(server, "http://127.0.0.1:0", { drainMs: 0 });
    await using front = await relay(behind.address);
    const required = await call(front.address, ask());
    await using other = await relay(behind.address);
    expect(await call(other.address, retry(required))).toMatchObject(invalid);
    expect(server.runs()).toBe(1);
    expect(await call(front.address, retry(required))).toMatchObject({ result: { content: [{ text: "Ada" }] } });
    expect(server.runs()).toBe(1);
  });

  it("is refused before it comes to a server that would not know it, and run the call", async () => {
    await using server = await stateless("opaque.state/0");
    await using front = await relay(server.address);
    const required = await call(front.address, ask());
    for (const bad of ["aw1.", "aw1.x", "aw1.AAAAAAAAAAAAAAAAAAAAAA.e30.e30"])
      expect(await call(front.address, retry(required, bad))).toMatchObject(invalid);
    expect(server.heard).toHaveLength(1);
  });

  it("passes through a relay as it is, if it is of the server behind", async () => {
    await using server = await stateless("opaque.state/1");
    await using front = await relay(server.address);
    await using other = await relay(server.address);
    const required = await call(front.address, ask());
    expect(required.result?.["requestState"]).toBe("opaque.state/1");
    for (const { address } of [front, other])
      expect(await call(address, retry(required))).toMatchObject({ result: { content: [{ text: "done" }] } });
    expect(server.heard.map(({ requestState }) => requestState)).toEqual([undefined, "opaque.state/1", "opaque.state/1"]);
  });
});

describe("through a relay with credentials, the state of one principal", () => {
  it("is refused to another: the server behind is Anywire", async () => {
    const server = asking();
    await using behind = await serve(server, "http://127.0.0.1:0", { drainMs: 0 });
    await using middle = await relay(behind.address);
    await using front = await relay(middle.address, { auth });
    const required = await call(front.address, ask(), as("a"));
    expect(required).toMatchObject({ result: { resultType: "input_required" } });
    expect(await call(front.address, retry(required), as("b"))).toMatchObject(invalid);
    expect(await call(front.address, retry(required), as("a"))).toMatchObject({ result: { content: [{ text: "Ada" }] } });
    expect(server.runs()).toBe(1);
  });

  it("is refused to another: the server behind is not", async () => {
    await using server = await stateless("opaque.state/2");
    await using front = await relay(server.address, { auth });
    const required = await call(front.address, ask(), as("a"));
    expect(await call(front.address, retry(required), as("b"))).toMatchObject(invalid);
    // Nor does it help to read the server's own state out of it.
    expect(await call(front.address, retry(required, "opaque.state/2"), as("b"))).toMatchObject(invalid);
    expect(
      await call(
        front.address,
        { ...retry(required), params: { ...(retry(required)["params"] as object), arguments: { other: 1 } } },
        as("a"),
      ),
    ).toMatchObject(invalid);
    expect(server.heard).toHaveLength(1);
    expect(await call(front.address, retry(required), as("a"))).toMatchObject({ result: { content: [{ text: "done" }] } });
    expect(server.heard.map(({ requestState }) => requestState)).toEqual([undefined, "opaque.state/2"]);
  });
});

describe("relays that share a key", () => {
  const sealKey = "a secret of which nobody knows anything";

  it("take each other's states, each from the principal that it was given to and for the request that it is about", async () => {
    await using behind = await stateless("the server's own");
    await using first = await relay(behind.address, { auth, sealKey });
    await using second = await relay(behind.address, { auth, sealKey });
    await using stranger = await relay(behind.address, { auth, sealKey: `${sealKey}!` });
    const required = await call(first.address, ask(), as("ada"));
    expect(required.result?.["requestState"]).toMatch(/^aw1\./);
    expect(await call(stranger.address, retry(required), as("ada"))).toMatchObject(invalid);
    expect(await call(second.address, retry(required), as("ben"))).toMatchObject(invalid);
    expect(
      await call(
        second.address,
        { ...retry(required), params: { ...(retry(required)["params"] as JsonObject), name: "other" } },
        {
          ...as("ada"),
          "mcp-name": "other",
        },
      ),
    ).toMatchObject(invalid);
    expect(behind.heard).toHaveLength(1);
    expect(await call(second.address, retry(required), as("ada"))).toMatchObject({ result: { content: [{ text: "done" }] } });
    expect(behind.heard[1]).toMatchObject({ requestState: "the server's own" });
  });

  it("do not take what waits in another of them", async () => {
    const server = asking();
    await using first = await serve(server, "http://127.0.0.1:0", { drainMs: 0, sealKey });
    await using second = await serve(server, "http://127.0.0.1:0", { drainMs: 0, sealKey });
    const required = await call(first.address, ask());
    expect(await call(second.address, retry(required))).toMatchObject({ error: { message: expect.stringContaining("another process") } });
    expect(await call(first.address, retry(required))).toMatchObject({ result: { content: [{ text: "Ada" }] } });
    expect(server.runs()).toBe(1);
  });

  it("refuse a key that is too short", async () => {
    await expect(serve(asking(), "http://127.0.0.1:0", { sealKey: "short" })).rejects.toThrow("at least 32");
  });
});
