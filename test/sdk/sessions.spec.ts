import { randomUUID } from "node:crypto";
import { McpServer } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import { connect, type Fault } from "../../src/api/index.js";
import { type SdkServerFactory, serveSdk } from "../../src/sdk/index.js";
import { labV1, labV2, newRecord } from "../fixtures/sdk/lab.mjs";
import { asking, counted, faultOf, lab, opened } from "./service-lab.js";
import { poll } from "./suite.js";

describe("one server for each", () => {
  it("legacy client, closed when the client is gone", async () => {
    for (const factory of [() => labV1(), labV2()]) {
      const servers = counted(factory);
      const open = await lab(opened(servers.factory));
      const [one, two] = await Promise.all([open({ era: "legacy" }), open({ era: "legacy" })]);
      await Promise.all([one.callTool("echo"), two.callTool("echo"), one.listTools()]);
      expect([servers.made(), servers.alive()]).toEqual([2, 2]);
      await one.close();
      await poll(servers.alive).toBe(1);
      expect((await two.callTool("echo", { still: "here" })).structuredContent).toEqual({ still: "here" });
      await two.close();
      await poll(servers.alive).toBe(0);
    }
  });

  it("listener, closed with it", async () => {
    const servers = counted(labV2());
    const address = `memory:${randomUUID()}`;
    const listener = await serveSdk(servers.factory, address);
    const clients = await Promise.all([connect(address, { era: "legacy" }), connect(address, { era: "modern" })]);
    expect(servers.alive()).toBe(2);
    await listener.close();
    expect(servers.alive()).toBe(0);
    for (const client of clients) await client.close();
  });

  it("principal's modern callers together, in their own era", async () => {
    const eras: unknown[] = [];
    const servers = counted((context) => {
      eras.push(context.era);
      return labV2()(context);
    });
    const open = await lab(opened(servers.factory));
    const clients = await Promise.all(Array.from({ length: 5 }, () => open({ era: "modern", ...asking })));
    await Promise.all(clients.map((client) => client.callTool("ask-form")));
    expect([servers.made(), eras]).toEqual([1, ["modern"]]);
  });

  it("modern client that a legacy server can ask, and one for all that it cannot", async () => {
    const servers = counted(() => labV1());
    const open = await lab(opened(servers.factory));
    const [one, two, three, four] = await Promise.all([
      open({ era: "modern" }),
      open({ era: "modern" }),
      open({ era: "modern", ...asking }),
      open({ era: "modern", ...asking }),
    ]);
    await Promise.all([one.callTool("echo"), two.callTool("echo"), three.callTool("ask-form"), four.callTool("ask-form")]);
    expect(servers.made()).toBe(3);
  });
});

describe("nothing crosses", () => {
  it("asks and logs of a call reach the client that made it", async () => {
    for (const [factory, era] of [
      [() => labV1(), "legacy"],
      [() => labV1(), "modern"],
      [labV2(), "legacy"],
      [labV2(), "modern"],
    ] as const) {
      const open = await lab(opened(factory));
      const heard: string[][] = [];
      const asked: string[] = [];
      const clients = await Promise.all(
        Array.from({ length: 4 }, (_, who) => {
          const mine: string[] = [];
          heard.push(mine);
          return open({
            era,
            logLevel: "debug",
            onLog: ({ data }) => mine.push(JSON.stringify(data)),
            elicit: () => {
              asked.push(`${who}`);
              return { action: "accept", content: { name: `client ${who}` } };
            },
          });
        }),
      );
      await Promise.all(
        clients.map(async (client, who) => {
          for (let round = 0; round < 5; round++) {
            const [form] = await Promise.all([client.callTool("ask-form"), client.callTool("logs")]);
            expect(form.structuredContent).toEqual({ action: "accept", content: { name: `client ${who}` } });
          }
        }),
      );
      expect(asked).toHaveLength(20);
      for (const mine of heard) await poll(() => mine).toHaveLength(10);
    }
  });

  it("a shared legacy server's asks are answered by nobody", async () => {
    const open = await lab(opened(() => labV1()));
    const [one, two] = await Promise.all([open({ era: "modern" }), open({ era: "modern" })]);
    await two.callTool("echo");
    expect((await one.callTool("push-form")).isError).toBe(true);
  });
});

describe("bounds", () => {
  it("closes a server that nothing calls", async () => {
    const servers = counted(labV2());
    const open = await lab(opened(servers.factory, { idleMs: 20 }));
    const client = await open({ era: "modern" });
    await client.callTool("echo");
    await poll(servers.alive).toBe(0);
    // The next call makes another.
    await client.callTool("echo");
    expect(servers.made()).toBeGreaterThanOrEqual(2);
  });

  it("refuses clients above the limit, and takes them when others have left", async () => {
    const servers = counted(() => labV1());
    const open = await lab(opened(servers.factory, { sessions: 2 }));
    const first = await open({ era: "legacy" });
    const second = await open({ era: "legacy" });
    const fault = await faultOf(open({ era: "legacy" }));
    expect(fault.data).toEqual({ limit: "sessions", max: 2 });
    await first.close();
    await poll(servers.alive).toBe(1);
    const third = await open({ era: "legacy" });
    expect((await third.callTool("echo", { a: 1 })).structuredContent).toEqual({ a: 1 });
    await second.close();
  });

  it("serves a single server to one client after another", async () => {
    for (const make of [() => labV1(), () => labV2()()]) {
      const open = await lab(opened(make()));
      for (const era of ["legacy", "modern", "legacy"] as const) {
        const client = await open({ era, ...asking });
        expect((await client.callTool("push-form")).structuredContent).toEqual({ action: "accept", content: { name: "Ada" } });
        if (era === "legacy") expect((await faultOf(open({ era: "legacy" }))).data).toEqual({ limit: "sessions", max: 1 });
        await client.close();
      }
    }
  });

  it("slows a handler whose reader is slow, and nobody else", async () => {
    for (const [server, era] of [
      ["v1", "legacy"],
      ["v2", "legacy"],
      ["v2", "modern"],
    ] as const) {
      const record = newRecord();
      const open = await lab(opened(server === "v1" ? () => labV1(record) : labV2(record)));
      const client = await open({ era });
      const n = 3_000;
      const stream = client.streamTool("flood", { n, size: 1_000 });
      await stream.next();
      for (let made = -1; made !== record.flooded; await client.callTool("echo", { made })) {
        made = record.flooded;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      expect(record.flooded).toBeLessThan(n / 4);
      let next = 2;
      for await (const event of stream) if (event.kind === "progress") expect(event.progress.progress).toBe(next++);
      expect(next).toBe(n + 1);
    }
  });

  it("ends a call alone whose handler waits for nothing and whose reader is slow", async () => {
    const factory: SdkServerFactory = () => {
      const server = new McpServer({ name: "hasty", version: "1" });
      server.registerTool("hasty", {}, async (ctx) => {
        const progressToken = ctx.mcpReq._meta?.progressToken ?? 0;
        for (let progress = 1; progress <= 4_000; progress++)
          void ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message: "x".repeat(1_000) } });
        await new Promise((resolve) => ctx.mcpReq.signal.addEventListener("abort", resolve));
        return { content: [] };
      });
      server.registerTool("calm", {}, () => ({ content: [{ type: "text", text: "calm" }] }));
      return server;
    };
    const open = await lab(opened(factory));
    const client = await open({ era: "legacy" });
    const stream = client.streamTool("hasty");
    await stream.next();
    const outcome = faultOf(
      (async () => {
        for await (const _ of stream) await new Promise((resolve) => setTimeout(resolve, 1));
      })(),
    );
    expect((await client.callTool("calm")).content).toEqual([{ type: "text", text: "calm" }]);
    expect((await outcome).data).toMatchObject({ limit: "callBytes" });
    expect((await client.callTool("calm")).content).toEqual([{ type: "text", text: "calm" }]);
  });
});

describe("failures", () => {
  it("tells that a server could not be made, and tries again", async () => {
    let broken = true;
    const open = await lab(
      opened((context) => {
        if (broken) throw new Error("no database");
        return labV2()(context);
      }),
    );
    const client = await open({ era: "modern", handshakeMs: 5_000 }).catch((error: Fault) => error);
    expect(client).toMatchObject({ message: expect.stringContaining("the server could not be made") as string });
    broken = false;
    expect((await (await open({ era: "modern" })).callTool("echo", { a: 1 })).structuredContent).toEqual({ a: 1 });
  });

  it("leaves nobody waiting for a server that is never made", async () => {
    const service = opened(() => new Promise(() => {}));
    const open = await lab(service);
    const abort = new AbortController();
    const given = faultOf(open({ era: "legacy", signal: abort.signal }));
    const cut = faultOf(open({ era: "legacy" }));
    abort.abort();
    expect((await given).code).toBe("cancelled");
    await service.close();
    expect((await cut).message).toBe("the service was closed");
  });

  it("fails a call whose caller cannot be told", async () => {
    const authInfo = (): never => {
      throw new Error("no idea");
    };
    const open = await lab(opened(labV2(), { authInfo }));
    expect((await faultOf(open({ era: "modern" }))).message).toContain("no idea");
  });

  it("fails calls of a closed service", async () => {
    const service = opened(labV2());
    const open = await lab(service);
    const client = await open({ era: "modern" });
    const waiting = faultOf(client.callTool("wait", { key: "k" }));
    await client.callTool("echo");
    await service.close();
    expect((await waiting).code).toBe("unavailable");
    expect((await faultOf(client.callTool("echo"))).code).toBe("unavailable");
  });
});

it("lets handlers ask modern callers in the middle of a call, where told to", async () => {
  const open = await lab(opened(labV2(), { era: "legacy" }));
  const client = await open({ era: "modern", ...asking });
  expect((await client.callTool("push-form")).structuredContent).toEqual({ action: "accept", content: { name: "Ada" } });
  expect((await client.callTool("ask-form")).structuredContent).toEqual({ action: "accept", content: { name: "Ada" } });
});
