import { type AddressInfo, connect as connectTcp, createServer as createTcp, type Socket } from "node:net";
import { expect, it } from "vitest";
import { connect, createServer, progress, serve } from "../../src/api/index.js";
import { begin, call, events, post } from "../http/requests.js";

/** Passes connections on, and cuts the one that carries a stream each time `bytes` of answers have passed. */
async function cutting(port: number, bytes: number): Promise<{ port: number; readonly cuts: number; close(): void }> {
  let cuts = 0;
  const sockets = new Set<Socket>();
  const proxy = createTcp((near) => {
    const far = connectTcp(port, "127.0.0.1");
    let passed = 0;
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        (socket === near ? far : near).destroy();
      });
    }
    near.on("data", (chunk) => far.write(chunk));
    far.on("data", (chunk) => {
      const room = bytes - passed;
      passed += chunk.length;
      if (chunk.length < room) return void near.write(chunk);
      if (room <= 0) return;
      cuts++;
      near.write(chunk.subarray(0, room), () => near.destroy());
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    port: (proxy.address() as AddressInfo).port,
    get cuts() {
      return cuts;
    },
    close() {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

it("a legacy call goes on over every cut of its connection: each notification once, in order", async () => {
  const N = 2_000;
  const server = createServer({ name: "x", version: "1" }).tool("count", {}, async function* () {
    for (let at = 1; at <= N; at++) {
      yield progress(at, N, "x".repeat(50));
      if (at % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return "counted";
  });
  await using listener = await serve(server, "http://127.0.0.1:0");
  const proxy = await cutting(Number(new URL(listener.address).port), 40_000);
  const client = await connect(`http://127.0.0.1:${proxy.port}/mcp`, { era: "legacy" });
  const seen: number[] = [];
  const result = await client.callTool("count", {}, { onProgress: ({ progress }) => seen.push(progress) });
  expect(result.content).toEqual([{ type: "text", text: "counted" }]);
  expect(seen).toEqual(Array.from({ length: N }, (_, at) => at + 1));
  expect(proxy.cuts).toBeGreaterThan(5);
  await client.close();
  proxy.close();
});

it("a raw client that is cut off again and again during a flood sees each event once, in order", async () => {
  const N = 5_000;
  const server = createServer({ name: "x", version: "1" }).tool("flood", {}, async function* () {
    for (let at = 1; at <= N; at++) yield progress(at, N, "x".repeat(200));
    return "done";
  });
  await using listener = await serve(server, "http://127.0.0.1:0");
  const session = await begin(listener.address);
  const seen: unknown[] = [];
  let [last, cuts] = ["", 0];
  let answer = await post(listener.address, call("call", "flood", {}, { _meta: { progressToken: "p" } }), session);
  for (let answered = false; !answered; ) {
    let left = 100 + ((cuts * 37) % 400);
    for await (const { id, message } of events(answer)) {
      last = id ?? last;
      if (message === undefined) continue;
      answered = message.id === "call";
      seen.push(answered ? "done" : message.params?.["progress"]);
      // What was under way when it leaves has to come again, and nothing else.
      if (answered || --left === 0) break;
    }
    if (answered) break;
    cuts++;
    answer = await fetch(listener.address, { headers: { ...session, accept: "text/event-stream", "last-event-id": last } });
    expect(answer.status).toBe(200);
  }
  console.log(`${seen.length - 1} of ${N} notifications over ${cuts} cuts, ${new Set(seen).size - 1} of them different`);
  expect(seen).toEqual([...Array.from({ length: N }, (_, at) => at + 1), "done"]);
  expect(cuts).toBeGreaterThan(10);
});
