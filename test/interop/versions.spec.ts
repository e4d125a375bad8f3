import { afterEach, describe, expect, test } from "vitest";
import { connect, type JsonObject, legacyVersions } from "../../src/api/index.js";
import { alive, figure, fixture } from "../fixtures/children/index.js";
import { nobodyLeft } from "../fixtures/processes.js";
import { call, initialize, opener, rawStdio, request } from "../fixtures/raw.js";

afterEach(nobodyLeft);

describe("a raw client of our server", () => {
  const open = opener(rawStdio);

  test.each(legacyVersions)("speaks %s", async (version) => {
    const raw = open();
    expect(await initialize(raw, version)).toMatchObject({ protocolVersion: version, serverInfo: { name: "contract" } });
    raw.send(call(1, "echo", { version }), request(2, "resources/read", { uri: "test://text" }), request(3, "prompts/list"));
    expect(await raw.response(1)).toMatchObject({ result: { structuredContent: { version } } });
    expect(await raw.response(2)).toMatchObject({ result: { contents: [{ text: "grüße, 世界 🎈" }] } });
    expect(await raw.response(3)).toMatchObject({ result: { prompts: [{ name: "greet" }] } });
  });

  test.each(["2023-01-01", "2026-07-28", "2031-01-01", "latest", ""])(
    "that asks for %j gets our newest legacy version",
    async (version) => {
      expect(await initialize(open(), version)).toMatchObject({ protocolVersion: "2025-11-25" });
    },
  );
});

describe("our client of a server by hand", () => {
  const pids: number[] = [];
  const onStderr = (line: string): void => void pids.push(Number(line.replace("pid ", "")));
  afterEach(() => void pids.splice(0));

  test.each(legacyVersions)("speaks %s", async (version) => {
    const client = await connect(fixture("old-server.mjs", version), { onStderr });
    expect(client.server).toMatchObject({ era: "legacy", version, info: { name: "old", version: "2025-11-25" } });
    expect((await client.callTool("t")).content).toEqual([{ type: "text", text: "old" }]);
    await client.close();
  });

  test("that is silent where it does not understand", async () => {
    const client = await connect(fixture("old-server.mjs", "2025-03-26", "silence"), { onStderr, probeMs: 50 });
    expect(client.server).toMatchObject({ era: "legacy", version: "2025-03-26" });
    await client.close();
  });

  test("that ends where it does not understand is started again, and not probed", async () => {
    const client = await connect(fixture("old-server.mjs", "2025-06-18", "exit"), { onStderr });
    expect(client.server).toMatchObject({ era: "legacy", version: "2025-06-18" });
    expect((await client.callTool("t")).content).toHaveLength(1);
    await client.close();
    expect(pids).toHaveLength(2);
    expect(pids.filter(alive)).toEqual([]);
  });

  test.each(["error", "silence"])(
    "that answers with a version of its own is left, both are named, and it is reaped (%s)",
    async (unknown) => {
      const since = performance.now();
      const dialing = connect(fixture("old-server.mjs", "2031-01-01", unknown), { onStderr, probeMs: 50 });
      const fault = (await dialing.catch((error: unknown) => error)) as JsonObject;
      figure(`start to the fault of an unsupported version (${unknown})`, since);
      expect(fault).toMatchObject({ name: "Fault", code: "unsupported-version" });
      for (const version of ["2031-01-01", "2025-11-25"]) expect(fault["message"]).toContain(version);
      expect(pids).toHaveLength(1);
      expect(pids.filter(alive)).toEqual([]);
    },
  );

  test("that cannot start says so once, in the words of its own end", async () => {
    await expect(connect({ command: process.execPath, args: ["-e", "process.exit(3)"] }, { onStderr })).rejects.toMatchObject({
      code: "unavailable",
      message: "the server exited with code 3",
    });
  });
});
