import * as grpc from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { Fault, type Service, serve, wireFor } from "../../src/api/index.js";
import { guard, type JsonObject, type Reply } from "../../src/core/index.js";
import { contextOf, faultOf, outcome } from "../calls.js";
import { baseClient } from "./base.js";

/** A service whose every call says what it is given, and then fails or ends. */
function saying(fault: Fault | undefined, ...before: readonly Reply[]): Service {
  return {
    call: ({ method }, context) =>
      guard(async function* (): AsyncGenerator<Reply, JsonObject> {
        if (method === "server/discover") return { supportedVersions: ["2026-07-28"], capabilities: {} };
        yield* before;
        if (fault !== undefined) throw fault;
        return method === "tools/call" ? { content: [] } : method === "prompts/get" ? { messages: [] } : { completion: { values: [] } };
      }, context),
    notify: () => Promise.resolve(),
  };
}

const chinese = "\u932f\u8aa4".repeat(250);
const errors: readonly (readonly [string, string, unknown])[] = [
  ["a long message", chinese, undefined],
  ["an empty message", "", { a: 1 }],
  ["half a surrogate pair", "a\ud800b", undefined],
  ["much data", "m", { text: "x".repeat(100_000) }],
  ["little", "m", { a: [1, null] }],
];
const requests = [
  ["resources/read", { uri: "u" }],
  ["tools/call", { name: "t" }],
  ["prompts/get", { name: "p" }],
  ["completion/complete", { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "v" } }],
] as const;

describe("an error between Anywire ends is whole", () => {
  for (const calls of ["session", "rpc"] as const) {
    it.each(errors)(`with %s, calls by ${calls}`, async (_what, message, data) => {
      const listener = await serve(saying(new Fault("application", message, { rpcCode: 7, data })), "grpc://127.0.0.1:0");
      const link = await (await wireFor(listener.address)).dial(listener.address, { calls } as object);
      for (const [method, params] of requests) {
        const fault = await faultOf(link, method, params);
        expect(JSON.stringify([fault.rpcCode, fault.message, fault.data]), method).toBe(JSON.stringify([7, message, data]));
      }
      await link.close();
      await listener.close();
    });
  }
});

/** Messages and status of a call, whatever its kind: raw bytes, as any stack of gRPC reads them. */
function rawCall(address: string, path: string, request: Buffer, metadata: grpc.Metadata): Promise<[Buffer[], grpc.StatusObject]> {
  const client = new grpc.Client(address.slice("grpc://".length), grpc.credentials.createInsecure());
  const same = (bytes: Buffer): Buffer => bytes;
  const call = client.makeServerStreamRequest(`/mcp.v1.McpService/${path}`, same, same, request, metadata);
  const messages: Buffer[] = [];
  call.on("data", (message: Buffer) => messages.push(message));
  call.on("error", () => {});
  return new Promise((resolve) =>
    call.on("status", (status) => {
      client.close();
      resolve([messages, status]);
    }),
  );
}

describe("an error to any other client", () => {
  it("says in its message and in a trailer what was cut", async () => {
    for (const [what, message, data] of errors) {
      const listener = await serve(saying(new Fault("application", message, { rpcCode: 7, data })), "grpc://127.0.0.1:0");
      const client = baseClient(listener.address);
      const failed = await client.unary("GetPrompt", { name: "p" }).catch((error) => error);
      const [cut] = failed.metadata.get("mcp-error-cut");
      expect([failed.code, failed.metadata.get("mcp-error-code")]).toEqual([2, ["7"]]);
      if (what === "a long message") {
        expect(failed.details).toMatch(/^(\u932f\u8aa4)+\u932f?\.\.\. \[cut: \d+ of 500 characters\]$/);
        expect(cut).toBe("message");
      } else if (what === "much data") {
        expect(failed.details).toBe("[100011 bytes of error data left out] m");
        expect(cut).toBe("data");
      } else if (what === "half a surrogate pair") {
        expect(failed.details).toBe(String.raw`a\ud800b`);
        expect(cut).toBe("message");
      } else {
        expect(failed.details).toBe(message);
        expect([cut, JSON.parse(String(failed.metadata.get("mcp-error-data-bin")[0]))]).toEqual([undefined, data]);
      }
      client[Symbol.dispose]();
      await listener.close();
    }
  });

  it("and is a message before the status only where the caller reads it", async () => {
    const listener = await serve(saying(new Fault("application", chinese, { rpcCode: 7 })), "grpc://127.0.0.1:0");
    const request = Buffer.from([0x0a, 1, 0x70]);
    const [none, status] = await rawCall(listener.address, "GetPrompt", request, new grpc.Metadata());
    expect([none.length, status.code]).toEqual([0, grpc.status.UNKNOWN]);
    const twins = new grpc.Metadata();
    twins.set("anywire-twins", "1");
    const [[whole], same] = await rawCall(listener.address, "GetPrompt", request, twins);
    expect(whole?.toString("utf8")).toContain(JSON.stringify({ code: 7, message: chinese }));
    expect(same.code).toBe(grpc.status.UNKNOWN);
    await listener.close();
  });
});

describe("a log entry", () => {
  const log: Reply = { kind: "log", params: { level: "info", data: "said" } };

  it.each(["session", "rpc"] as const)("reaches an Anywire client before the result, calls by %s", async (calls) => {
    const listener = await serve(saying(undefined, log), "grpc://127.0.0.1:0");
    const link = await (await wireFor(listener.address)).dial(listener.address, { calls } as object);
    for (const [method, params] of requests.slice(1)) {
      const { replies } = await outcome(link, method, params, contextOf({ logLevel: "debug" }));
      expect(
        replies.map((reply) => [reply.kind, "params" in reply && reply.params["data"]]),
        method,
      ).toEqual([["log", "said"]]);
    }
    await link.close();
    await listener.close();
  });

  it("never stands in the place of a base client's one answer", async () => {
    const listener = await serve(saying(undefined, log), "grpc://127.0.0.1:0");
    const client = baseClient(listener.address);
    expect(await client.unary("GetPrompt", { name: "p" })).toEqual({ messages: [], description: "" });
    client[Symbol.dispose]();
    await listener.close();
  });
});
