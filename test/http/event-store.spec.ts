import { describe, expect, it } from "vitest";
import { memoryEvents } from "../../src/wires/http/index.js";
import { begin, call, open, post } from "./requests.js";

describe("the event store in memory", () => {
  it("lets one owner use up its own share alone", async () => {
    const store = memoryEvents({ totalChars: 100_000 });
    const kept = await store.append("quiet", "q".repeat(1000), "one");
    for (let n = 0; n < 200; n++) await store.append(`s${n}`, "x".repeat(1000), "two");
    expect((await store.after(kept.replace("_0", "_-1")))?.events).toHaveLength(1);
    const streams = await Promise.all(Array.from({ length: 200 }, (_, n) => store.after(`s${n}_-1`)));
    const left = streams.filter((replay) => replay !== undefined && replay.events.length > 0);
    expect(left.length).toBeGreaterThan(15);
    expect(left.length).toBeLessThan(26);
  });

  it("where all is used up, takes from the owner that has most", async () => {
    const store = memoryEvents({ totalChars: 100_000, ownerChars: 80_000 });
    await store.append("quiet", "q".repeat(10_000), "one");
    for (let n = 0; n < 60; n++) await store.append(`s${n}`, "x".repeat(1000), "two");
    for (let n = 0; n < 60; n++) await store.append(`t${n}`, "x".repeat(1000), "three");
    expect((await store.after("quiet_-1"))?.events).toHaveLength(1);
    const names = Array.from({ length: 60 }, (_, n) => [`s${n}_-1`, `t${n}_-1`]).flat();
    const kept = (await Promise.all(names.map((name) => store.after(name)))).filter((replay) => replay?.events.length === 1);
    // What is left of 100,000 characters, at 1,064 for each.
    expect(kept).toHaveLength(84);
  });

  it("is told by the sessions of HTTP whom their streams count for", async () => {
    const owners = new Set<string | undefined>();
    const store = memoryEvents();
    const events = {
      ...store,
      append(stream: string, text: string, owner?: string) {
        owners.add(owner);
        return store.append(stream, text, owner);
      },
    };
    await using at = await open({ events, auth: { verify: (token) => ({ id: token }) } });
    const authorization = "Bearer ann";
    const headers = await begin(at.url, { authorization });
    await (await post(at.url, call(1, "count", { n: 2 }, { _meta: { progressToken: 1 } }), { ...headers, authorization })).text();
    expect([...owners]).toEqual(["principal ann"]);
  });
});
