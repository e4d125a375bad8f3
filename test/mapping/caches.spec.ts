import { setFlagsFromString } from "node:v8";
import { runInThisContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { decodeMessage, decodeToServer, encodeChunkHead, encodeToServer } from "../../src/codec/mcpv1/index.js";
import type { JsonObject } from "../../src/core/index.js";
import { anywireKeys } from "../../src/era/keys.js";

const twin = { twin: true };
const info = "io.modelcontextprotocol/clientInfo";
const capabilities = "io.modelcontextprotocol/clientCapabilities";

interface Call {
  readonly [member: string]: unknown;
  readonly _meta: { [info]: { name: string; icons: { src: string }[] }; [capabilities]: Record<string, unknown>; plain: string };
}
const params = (): Call => ({
  name: "t",
  _meta: { [info]: { name: "ada", icons: [{ src: "a" }] }, [capabilities]: { sampling: {} }, plain: "x" },
});
const encoded = (given: JsonObject): Uint8Array =>
  encodeToServer({ jsonrpc: "2.0", id: 1, method: "tools/call", params: given as never }, twin);
const decoded = (bytes: Uint8Array): Call => (decodeToServer(bytes) as unknown as { readonly params: Call }).params;

/** Does what may be refused. */
function attempt(change: () => unknown): void {
  try {
    change();
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
  }
}

describe("what is kept from one message to the next", () => {
  it("is not what a caller got, however deep it changes that", () => {
    const bytes = encoded(params());
    for (let time = 0; time < 3; time++) {
      const call = decoded(bytes);
      expect(call).toStrictEqual(params());
      attempt(() => (call._meta[info].name = "eve"));
      attempt(() => ((call._meta[info].icons[0] as { src: string }).src = "b"));
      attempt(() => call._meta[info].icons.push({ src: "c" }));
      attempt(() => (call._meta[capabilities]["elicitation"] = {}));
      call._meta.plain = "y";
      expect(call._meta.plain).toBe("y");
    }
  });

  it("is not the buffer that a message came in", () => {
    const bytes = encoded(params());
    const received = bytes.slice();
    decoded(received);
    received.fill(0);
    expect(decoded(bytes)).toStrictEqual(params());
  });

  it("is not written for an object that has changed since", () => {
    const given = params();
    const first = encoded(given);
    given._meta[info].name = "grace";
    (given._meta[info].icons[0] as { src: string }).src = "b";
    given._meta[capabilities]["roots"] = {};
    expect(decoded(encoded(given))).toStrictEqual(given);
    expect(decoded(first)).toStrictEqual(params());
    const reordered = { ...given, _meta: Object.fromEntries(Object.entries(given._meta).reverse()) };
    expect(Object.keys(decoded(encoded(reordered))._meta)).toEqual(Object.keys(reordered._meta));
  });

  it("is not a default that a message left out", () => {
    const tool = (): { inputSchema: Record<string, unknown> } => decodeMessage("Tool", new Uint8Array(0)) as never;
    tool().inputSchema["type"] = "array";
    expect(tool().inputSchema).toStrictEqual({ type: "object" });
  });

  it("is not the memory of a message that was written before, whatever the next one's id", () => {
    const before = Array.from({ length: 4 }, () => encoded(params()));
    const head = encodeChunkHead("\ud800", 5);
    expect(head.length).toBeGreaterThan(5);
    for (const bytes of before) expect(decoded(bytes)).toStrictEqual(params());
  });

  it("is kept of several ends that speak in turn, as those of a relay do", () => {
    const ends = Array.from({ length: 8 }, (_, at) => encoded({ ...params(), _meta: { ...params()._meta, plain: String(at) } }));
    const first = ends.map((bytes) => decoded(bytes)._meta[info]);
    for (const [at, bytes] of ends.entries()) expect(decoded(bytes)._meta[info]).toBe(first[at]);
  });

  it("keeps its hidden class when a window is added to it", () => {
    setFlagsFromString("--allow-natives-syntax");
    const same = runInThisContext("(one, other) => %HaveSameMap(one, other)") as (one: unknown, other: unknown) => boolean;
    const bytes = encoded({ ...params(), _meta: { ...params()._meta, [anywireKeys.window]: 64 } });
    const metas = Array.from({ length: 20 }, () => decoded(bytes)._meta);
    expect(metas[0]).toHaveProperty([anywireKeys.window], 64);
    expect(same(metas[18], metas[19])).toBe(true);
  });
});
