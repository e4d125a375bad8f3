import { once } from "node:events";
import * as grpc from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { connect, createServer, type Listener, progress, type Server, serve, wireFor } from "../../src/api/index.js";
import { baseService, type Message } from "./base.js";

const N = 20_000;
const text = "x".repeat(1_000);
/** Messages of a thousand characters that may be made for a reader that has stopped, each hop with buffers of its own. */
const FEW = 600;

/** A server that counts the notifications it makes. */
function flooding(): Server & { readonly made: () => number } {
  let made = 0;
  const server = createServer({ name: "flooding", version: "1" }).tool("flood", {}, async function* () {
    for (made = 0; made < N; made++) yield progress(made, N, text);
    return "done";
  });
  return Object.assign(server, { made: () => made });
}

/** Resolves with the count once it grows no more. */
async function settled(count: () => number): Promise<number> {
  for (let before = -1, same = 0; same < 10; same = count() === before ? same + 1 : 0) {
    before = count();
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  return count();
}

async function relayTo(address: string, options: object): Promise<Listener> {
  const link = await (await wireFor(address)).dial(address, options);
  const relay = await serve(link, "grpc://127.0.0.1:0");
  return { ...relay, address: relay.address, close: () => relay.close().then(() => link.close()) } as Listener;
}

describe("a reader of notifications that stops holds the producer up", () => {
  it("if it is a client of another stack, behind a relay with unary calls", async () => {
    const server = flooding();
    const far = await serve(server, "grpc://127.0.0.1:0");
    const relay = await relayTo(far.address, { calls: "rpc" });
    const client = new (baseService(true))(relay.address.slice("grpc://".length), grpc.credentials.createInsecure()) as Message;
    const call = client.CallToolWithProgress({ name: "flood", progress_token: { string_token: "t" } });
    call.on("error", () => {});
    await new Promise<void>((resolve) =>
      call.once("data", () => {
        call.pause();
        resolve();
      }),
    );
    expect(await settled(server.made)).toBeLessThan(FEW);
    // It goes on where it stopped.
    let last = 0;
    call.on("data", ({ progress: told }: Message) => {
      if (told) last = told.progress;
    });
    call.resume();
    await once(call, "end");
    expect(last).toBe(N - 1);
    client.close();
    await relay.close();
    await far.close();
  });

  it("if the server is of another stack", async () => {
    let made = 0;
    const server = new grpc.Server();
    server.addService(baseService(true).service, {
      Ping: (_call: Message, done: (error: null, reply: object) => void) => done(null, {}),
      Initialize: (_call: Message, done: (error: null, reply: object) => void) =>
        done(null, { protocol_version: "2025-11-25", capabilities: { tools: {} }, server_info: { name: "s", version: "1" } }),
      CallToolWithProgress: async (call: Message) => {
        for (made = 0; made < N && !call.cancelled; made++)
          if (!call.write({ progress: { progress: made, message: text } }))
            await Promise.race([once(call, "drain"), once(call, "cancelled")]);
        call.end();
      },
    });
    const port = await new Promise<number>((resolve) =>
      server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (_error, bound) => resolve(bound)),
    );
    const relay = await relayTo(`grpc://127.0.0.1:${port}`, {});
    const client = await connect(relay.address, { calls: "rpc" });
    const stream = client.streamTool("flood", {});
    await stream.next();
    expect(await settled(() => made)).toBeLessThan(FEW);
    await stream.return();
    await client.close();
    await relay.close();
    server.forceShutdown();
  });
});

describe("a large answer of a unary call", () => {
  it("comes whole, though little may be under way", async () => {
    const large = "y".repeat(20_000_000);
    const listener = await serve(
      createServer({ name: "large", version: "1" }).tool("large", {}, () => large),
      "grpc://127.0.0.1:0",
    );
    const client = await connect(listener.address, { calls: "rpc" });
    const { content } = await client.callTool("large", {});
    expect((content[0] as { text: string }).text === large).toBe(true);
    await client.close();
    await listener.close();
  });
});
