import { describe, expect, it } from "vitest";
import { createServer } from "../../src/core/index.js";
import { initialized, request, servedLines } from "./raw.js";

describe("the subscriptions of a session", () => {
  it("end when they are given up, also one that was renewed at once", async () => {
    const server = createServer({ name: "s", version: "1" }).resource({ uri: "x:", name: "x" }, () => "x");
    const { client, write } = servedLines(server);
    await initialized(client);
    await client.send(request("open", "ping"));
    await client.answer("open");
    // In one go, so that nothing of the first has ended when the second begins.
    const steps = ["resources/subscribe", "resources/unsubscribe", "resources/subscribe"];
    write(steps.map((method, at) => JSON.stringify(request(at + 1, method, { uri: "x:" }))).join("\n"));
    expect(await client.answer(3)).toMatchObject({ kind: "result" });
    await client.answer(1);
    await client.send(request(4, "resources/unsubscribe", { uri: "x:" }));
    await client.answer(4);
    server.updated("x:");
    await client.send(request(5, "ping"));
    await client.answer(5);
    expect(client.seen.filter((message) => message.kind === "notification")).toEqual([]);
    await client.link.close();
  });
});
