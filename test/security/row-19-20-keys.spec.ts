import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { contractService } from "../../src/contract/index.js";
import type { JsonObject } from "../../src/core/index.js";
import { serveLink } from "../../src/era/index.js";
import { lineLink } from "../../src/io/index.js";
import { call, envelope, initialize, opener, rawMemory, rawStdio, rawWires, request } from "../fixtures/raw.js";
import { calls, upstreams } from "../fixtures/upstream.js";

describe("19. keys that differ by case or folding are not taken for the real ones", () => {
  const open = opener(rawStdio);

  test("in the message", async () => {
    const raw = open();
    await initialize(raw);
    for (const line of [
      '{"jsonrpc":"2.0","id":"x","Method":"ping"}',
      '{"jsonrpc":"2.0","id":"x","METHOD":"ping"}',
      '{"jsonrpc":"2.0","id":"x","method ":"ping"}',
      '{"jsonrpc":"2.0","id":"x","ｍethod":"ping"}',
      '{"jsonrpc":"2.0","id":"x","metho\\u0064\\u200b":"ping"}',
      '{"JSONRPC":"2.0","id":"x","method":"ping"}',
    ])
      expect(await raw.during(() => raw.write(`${line}\n`))).toMatchObject([{ id: "x", error: { code: -32600 } }]);
    for (const line of ['{"jsonrpc":"2.0","Id":"x","method":"ping"}', '{"jsonrpc":"2.0","İd":"x","method":"ping"}'])
      expect(await raw.during(() => raw.write(`${line}\n`))).toEqual([]);
    const both =
      '{"jsonrpc":"2.0","id":1,"ID":2,"method":"com.example/echo","Method":"ping","params":{"real":1},"paramſ":{"real":2},"Params":{"real":3}}';
    expect(await raw.during(() => raw.write(`${both}\n`))).toMatchObject([{ id: 1, result: { echoed: { real: 1 } } }]);
  });

  for (const wire of rawWires) {
    const openWire = opener(wire.open);

    test(`in the params and in _meta (${wire.name})`, async () => {
      const raw = openWire();
      raw.send(
        request(1, "tools/call", { Name: "echo", NAME: "echo", ɴame: "echo", arguments: {}, _meta: envelope() }),
        request(2, "tools/call", { name: "echo", Arguments: { wrong: 1 }, argumentſ: { wrong: 2 }, _meta: envelope() }),
        request(3, "tools/call", { name: "echo", arguments: { right: 1 }, _Meta: envelope(), _META: envelope() }),
        request(4, "tools/call", {
          name: "echo",
          _meta: { "io.modelcontextprotocol/ProtocolVersion": "2026-07-28", "IO.modelcontextprotocol/clientCapabilities": {} },
        }),
        request(5, "resources/read", { Uri: "test://text", _meta: envelope() }),
        request(6, "tools/call", { name: "Echo", arguments: {}, _meta: envelope() }),
        request(7, "TOOLS/CALL", { name: "echo", arguments: {}, _meta: envelope() }),
      );
      for (const id of [1, 3, 4, 5, 6]) expect([id, await raw.response(id)]).toMatchObject([id, { error: { code: -32602 } }]);
      expect(await raw.response(2)).toMatchObject({ result: { structuredContent: {} } });
      expect((((await raw.response(2))["result"] as JsonObject)["structuredContent"] as JsonObject)["wrong"]).toBeUndefined();
      expect(await raw.response(7)).toMatchObject({ error: { code: -32601 } });
    });

    test(`they arrive as the data they are, apart from each other (${wire.name})`, async () => {
      const raw = openWire();
      const args = { name: 1, Name: 2, NAME: 3, ɴame: 4, "name ": 5, straße: 6, STRASSE: 7, ſ: 8, s: 9, S: 10, "\u212a": 11, k: 12 };
      raw.send(call(1, "echo", args, envelope()));
      expect(((await raw.response(1))["result"] as JsonObject)["structuredContent"]).toEqual(args);
    });
  }
});

describe("20. duplicate keys have one reading everywhere: the last", () => {
  const open = opener(rawStdio);
  const dial = upstreams();

  test("here", async () => {
    const raw = open();
    await initialize(raw);
    const lines: readonly [string, JsonObject][] = [
      ['{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', { id: 2, result: {} }],
      ['{"jsonrpc":"2.0","id":1,"method":"com.example/none","method":"ping"}', { id: 1, result: {} }],
      ['{"jsonrpc":"2.0","id":1,"method":"ping","m\\u0065thod":"com.example/none"}', { id: 1, error: { code: -32601 } }],
      [
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"boom"},"params":{"name":"boom","name":"echo","arguments":{"a":1,"a":2,"b":{"c":1,"c":[2]}}}}',
        { id: 1, result: { structuredContent: { a: 2, b: { c: [2] } } } },
      ],
      ['{"jsonrpc":"1.0","jsonrpc":"2.0","id":1,"method":"ping"}', { id: 1, result: {} }],
    ];
    for (const [line, answer] of lines) expect(await raw.during(() => raw.write(`${line}\n`))).toMatchObject([answer]);
  });

  test("and behind: what is passed on has one, and it is the one that was read here", async () => {
    const { server, connection, answer } = await dial();
    const [input, output] = [new PassThrough(), new PassThrough()];
    const link = lineLink(input, output);
    const served = serveLink(connection, link);
    input.write('{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}\n');
    input.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    input.write(
      '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"safe","name":"danger","arguments":{"a":"safe","a":"danger"}}}\n',
    );
    const passed = await answer(calls("danger"), { content: [] });
    expect(JSON.stringify(passed["params"])).toBe('{"name":"danger","arguments":{"a":"danger"}}');
    expect(server.heard.filter(calls("safe"))).toEqual([]);
    input.end();
    await served;
  });

  test("on the memory wire there are none", async () => {
    const raw = rawMemory(contractService());
    raw.send(call(1, "echo", JSON.parse('{"a":1,"a":2}') as JsonObject, envelope()));
    expect(await raw.response(1)).toMatchObject({ result: { structuredContent: { a: 2 } } });
    await raw.close();
  });
});
