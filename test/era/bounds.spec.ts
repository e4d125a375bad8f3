import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { createClient, createServer } from "../../src/core/index.js";
import { dialLink, serveLink } from "../../src/era/index.js";
import { lineLink } from "../../src/io/index.js";
import { until } from "../calls.js";
import { modern, served } from "./raw.js";

/** Lets everything run that can run without more input. */
async function quiet(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
}

describe("a client that does not read", () => {
  it("is not served without end: its answers wait within a bound, and its next requests for them", async () => {
    let ran = 0;
    const server = createServer({ name: "s", version: "1" }).tool("big", {}, () => {
      ran++;
      return "x".repeat(100_000);
    });
    const { link, ended } = served(server, { limits: { backlogBytes: 1_000_000 } });
    const sends = Array.from({ length: 2_000 }, (_, at) => link.send(modern(at, "tools/call", { name: "big" })).catch(() => {}));
    await until(() => ran > 10);
    await quiet();
    expect(ran).toBeLessThan(100);
    await link.close();
    await ended;
    await Promise.all(sends);
  });

  it("gets every answer once it reads on", async () => {
    const server = createServer({ name: "s", version: "1" }).tool("big", {}, () => "x".repeat(100_000));
    const { link } = served(server, { limits: { backlogBytes: 1_000_000 } });
    const n = 200;
    void (async () => {
      for (let at = 0; at < n; at++) await link.send(modern(at, "tools/call", { name: "big" }));
    })();
    await quiet();
    const ids: number[] = [];
    for await (const batch of link.incoming) {
      for (const message of batch) if (message.kind === "result") ids.push(message.id as number);
      if (ids.length === n) break;
    }
    expect(ids.sort((a, b) => a - b)).toEqual(Array.from({ length: n }, (_, at) => at));
    await link.close();
  });
});

describe("a list that is collected", () => {
  it("is bounded by what its pages took on the wire", async () => {
    const server = createServer({ name: "s", version: "1" });
    for (let at = 0; at < 100; at++) server.tool(`tool-${at}`, { description: "d".repeat(1000) }, () => "");
    const [there, back] = [new PassThrough(), new PassThrough()];
    void serveLink(server, lineLink(there, back)).catch(() => {});
    const connection = await dialLink(lineLink(back, there));
    const tools = async (collectBytes: number): Promise<number> =>
      (await (await createClient(connection, { collectBytes })).listTools()).tools.length;
    await expect(tools(90_000)).rejects.toMatchObject({ code: "overload", data: { limit: "collectBytes" } });
    await expect(tools(130_000)).resolves.toBe(100);
    await connection.close();
  });
});
