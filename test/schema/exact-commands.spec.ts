import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MessageShape } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it, onTestFinished } from "vitest";
import { anywire, run, script, start } from "../cli/support.js";
import { baseClient, type Envelope } from "../proto/base-peer.js";
import { scratch } from "./support.js";

/** The text of a list with numbers that no double holds, as a server that knows nothing of JavaScript writes it. */
const tools = `[{"name":"pay","description":"Pays.","inputSchema":{"type":"object","properties":{"amount":{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775806,"default":9007199254740993},"rate":{"type":"number","maximum":1e400},"zero":{"const":-0}}}}]`;

/** A server of bytes: its answers are written by hand. */
const server = script(`
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    const answer = (result) => process.stdout.write('{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',"result":' + result + '}\\n');
    if (method === "initialize") answer('{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"bank","version":"1"}}');
    else if (method === "tools/list") answer('{"tools":${tools}}');
    else if (method === "tools/call") answer('{"content":[{"type":"text","text":' + JSON.stringify(/"amount":[^,}]*/.exec(line)[0]) + '}]}');
    else if (id !== undefined) process.stdout.write('{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',"error":{"code":-32601,"message":"no"}}\\n');
  });
`);

describe("a server with numbers in its schemas that no double holds", () => {
  it("has its tools listed with their exact text", async () => {
    const list = await run(["tools", "--json", ...server]);
    expect([list.code, list.stdout.trim(), list.stderr]).toEqual([0, tools.slice(1, -1), ""]);
    expect(await run(["tools", ...server])).toMatchObject({ code: 0, stdout: expect.stringContaining("[zero=<one of -0>]") });
    const one = await run(["tools", "pay", ...server]);
    expect([one.code, one.stdout]).toEqual([0, expect.stringContaining('"maximum": 9223372036854775806')]);
  });

  it("is converted, counted and called", async () => {
    const out = join(scratch(), "proto");
    expect(await run(["schema", "to-proto", "-o", out, ...server])).toMatchObject({ code: 0, stderr: "" });
    const text = readFileSync(join(out, "tools/bank/v1/pay.proto"), "utf8");
    expect(text).toContain("// Default: 9007199254740993\n");
    expect(text).toMatch(/int64 amount = 1 \[\n.*int64\.lte = 9223372036854775806,\n.*int64\.gte = -9223372036854775808\n/);
    expect((await run(["schema", "check", "-o", out, ...server])).stdout).toBe("nothing has changed\n");
    expect(await run(["tokens", "--json", ...server])).toMatchObject({ code: 0, stderr: "" });
    expect(await run(["call", "pay", "amount=5", ...server])).toMatchObject({ code: 0, stdout: '"amount":5\n' });
  });

  it("is read from a file just as exactly", async () => {
    const folder = scratch();
    writeFileSync(join(folder, "tools.json"), `{"tools":${tools}}`);
    expect(await run(["schema", "to-proto", join(folder, "tools.json"), "-o", join(folder, "out")])).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(join(folder, "out/tools/tools/v1/pay.proto"), "utf8")).toContain("int64.lte = 9223372036854775806");
  });
});

it("takes typed calls through a bridge, with 64-bit integers to the digit", async () => {
  const bridge = start(process.execPath, [anywire, "bridge", "--listen", "proto+tcp://127.0.0.1:0", ...server]);
  let text = "";
  for (const stream of [bridge.child.stderr, bridge.child.stdout]) stream.on("data", (chunk: string) => (text += chunk));
  await bridge.shows(/proto\+tcp:\/\/127\.0\.0\.1:\d+/);
  const client = await baseClient(/proto\+tcp:\/\/[\d.:]+/.exec(text)?.[0] ?? "");
  onTestFinished(() => void client.socket.destroy());
  client.send(1n, "initializeRequest", { protocolVersion: "1.0.0", capabilities: { supportsBsrRefs: false, encodings: ["protobuf"] } });
  await client.next();
  client.send(2n, "listToolsRequest", { includeSchemas: true });
  const { tools: listed } = ((await client.next()) as Envelope).payload.value as unknown as {
    tools: { schemaSource: { value: MessageShape<typeof FileDescriptorSetSchema> } }[];
  };
  const file = listed[0]?.schemaSource.value.file[0];
  const typeUrl = `type.googleapis.com/${file?.package}.PayRequest`;
  const call = async (id: bigint, amount: bigint): Promise<unknown> => {
    const value = new BinaryWriter().tag(1, WireType.Varint).int64(amount).finish();
    client.send(id, "callToolRequest", { name: "pay", arguments: { typeUrl, value } });
    return ((await client.next()) as Envelope).payload.value;
  };
  for (const [id, amount] of [9007199254740993n, 9223372036854775806n, -9223372036854775808n].entries())
    expect(await call(BigInt(id + 3), amount)).toMatchObject({
      result: { case: "success", value: { content: [{ content: { value: `"amount":${amount}` } }] } },
    });
});

describe("a folder that cannot be written", () => {
  it.skipIf(process.platform !== "linux")("ends the command with its name, even where Node's own mkdir never ends", async () => {
    const folder = scratch();
    writeFileSync(join(folder, "tools.json"), `{"tools":${tools}}`);
    writeFileSync(join(folder, "file"), "");
    for (const [path, code] of [
      ["/proc/nope", "ENOENT"],
      ["/proc/nope/a/b", "ENOENT"],
      [join(folder, "file"), "EEXIST|ENOTDIR"],
      [join(folder, "x".repeat(300)), "ENAMETOOLONG"],
    ] as const) {
      const { code: exit, stderr } = await run(["schema", "to-proto", join(folder, "tools.json"), "-o", path]);
      expect([exit !== 0, stderr]).toEqual([
        true,
        expect.stringMatching(new RegExp(`^anywire: ${path}\\S* cannot be (?:written|read) \\((?:${code})\\)\n$`)),
      ]);
    }
    const service = await run(["schema", "service", "/proc/nope/set.binpb"]);
    expect([service.code, service.stderr]).toEqual([1, "anywire: /proc/nope/set.binpb cannot be written (ENOENT)\n"]);
  });
});
