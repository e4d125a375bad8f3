import { inflateSync } from "node:zlib";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type ConnectOptions, connect, type McpClient, serve } from "../../src/api/index.js";
import { octets, sizeInWords } from "../../src/demo/generated.js";
import { demoServer } from "../../src/demo/index.js";
import { png, wav } from "../../src/demo/media.js";
import { anywire, run, start } from "./support.js";

let count = 0;
const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each[Symbol.asyncDispose]();
});

async function open(options: ConnectOptions = {}, many?: number): Promise<McpClient> {
  const address = `memory:demo-${++count}`;
  opened.push(await serve(demoServer({ manyTools: many }), address));
  const client = await connect(address, options);
  opened.push(client);
  return client;
}

describe("the demo server", () => {
  it.each(["legacy", "modern"] as const)("asks for forms, pages, models and roots (%s)", async (era) => {
    const client = await open({
      era,
      elicit: ({ mode }) =>
        mode === "url" ? { action: "accept" } : { action: "accept", content: { name: "Ada", dish: "pie", portions: 2 } },
      elicitUrl: true,
      sample: () => ({ role: "assistant", content: { type: "text", text: "4" }, model: "m" }),
      roots: [{ uri: "file:///r", name: "r" }],
    });
    const text = async (name: string): Promise<unknown> => (await client.callTool(name)).content[0]?.["text"];
    expect(await text("greet")).toBe("Hello, Ada!");
    expect(await text("order")).toContain('"dish":"pie"');
    expect(await text("sign-in")).toBe("Signed in (not really).");
    expect(await text("ask-model")).toBe('m says: {"type":"text","text":"4"}');
    expect(await text("list-roots")).toBe("r  file:///r");
  });

  it("generates tools as they are read", async () => {
    const client = await open({}, 100_000);
    let tools = 0;
    for await (const tool of client.tools()) if (tool.name.startsWith("tool-")) tools++;
    expect(tools).toBe(100_000);
    expect((await client.callTool("tool-99999", { x: 1 })).content).toEqual([{ type: "text", text: 'tool-99999 was called with {"x":1}' }]);
    await expect(client.callTool("tool-100000")).rejects.toThrow("unknown tool");
  });

  it("reads its file and what it generates from anywhere", async () => {
    const client = await open();
    const from = async (uri: string, offset: number, length: number): Promise<string> => {
      let text = "";
      for await (const { data } of client.readChunks(uri, { offset })) {
        text += typeof data === "string" ? data : Buffer.from(data).toString("latin1");
        if (text.length >= length) break;
      }
      return text.slice(0, length);
    };
    expect(await from("demo://file", 64 * 1000, 40)).toBe("line 1000 of 1048576, at byte 64000.....");
    expect(await from("demo://generated/1gb", 999_999_990, 100)).toBe(Buffer.concat([...octets(999_999_990, 1e9)]).toString("latin1"));
    expect([
      sizeInWords("1gb"),
      sizeInWords("64KiB"),
      sizeInWords("7"),
      sizeInWords("x"),
      sizeInWords("99999tb"),
      sizeInWords("-1"),
    ]).toEqual([1e9, 65_536, 7, undefined, undefined, undefined]);
  });

  it("makes pictures and sounds that are some", () => {
    const picture = Buffer.from(png(32));
    expect(picture.subarray(1, 4).toString()).toBe("PNG");
    const length = picture.readUInt32BE(33);
    expect(picture.subarray(37, 41).toString()).toBe("IDAT");
    expect(inflateSync(picture.subarray(41, 41 + length))).toHaveLength(32 * (1 + 32 * 3));
    // The end of every PNG is the same, checksum and all.
    expect(picture.subarray(-12).toString("hex")).toBe("0000000049454e44ae426082");
    const sound = Buffer.from(wav(440, 100));
    expect([sound.subarray(0, 4).toString(), sound.readUInt32LE(4), sound.readUInt32LE(40)]).toEqual(["RIFF", sound.length - 8, 800]);
  });

  it.each(["legacy", "modern"] as const)("ticks while someone watches, and only then (%s)", async (era) => {
    const started = vi.spyOn(globalThis, "setInterval");
    const stopped = vi.spyOn(globalThis, "clearInterval");
    try {
      const client = await open({ era });
      expect(started).not.toHaveBeenCalled();
      for await (const change of client.watch("demo://clock")) {
        expect(change).toEqual({ uri: "demo://clock", change: "modified" });
        break;
      }
      const timer = started.mock.results[0]?.value as NodeJS.Timeout;
      expect(started).toHaveBeenCalledTimes(1);
      expect(timer.hasRef()).toBe(false);
      await vi.waitFor(() => expect(stopped).toHaveBeenCalledWith(timer));
    } finally {
      started.mockRestore();
      stopped.mockRestore();
    }
  });
});

describe("anywire demo", () => {
  it("serves stdin and stdout until they end", async () => {
    const { code, stdout } = await run(["demo"], { stdin: '{"jsonrpc":"2.0","id":1,"method":"ping"}\n' });
    expect([code, stdout]).toEqual([0, '{"jsonrpc":"2.0","id":1,"result":{}}\n']);
  });

  it("shows itself around, by itself", async () => {
    const { code, stdout, stderr } = await run(["demo", "--tour"]);
    expect([code, stderr]).toEqual([0, ""]);
    for (const part of [
      "Connected to anywire-demo",
      "Tools, as they stream in:",
      "4 of 4",
      "What is your name? (answered: Ada)",
      "Hello, Ada!",
      "warning",
      "100000000 bytes in",
      "MiB in all",
      "demo://clock modified",
      "Try next",
    ])
      expect(stdout).toContain(part);
  });

  it("can be left in the middle of the tour", async () => {
    const running = start(process.execPath, [anywire, "demo", "--tour"]);
    await running.shows("1 of 4");
    running.child.kill("SIGINT");
    expect((await running.ended).code).toBe(130);
  });
});
