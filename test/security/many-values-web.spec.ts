import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { field, framed } from "../../bench/hostile/http2.js";
import { SERVICE } from "./bounded.js";

/** A server that dies of a message if all of its values are made: 2,500,000 of protobuf-es take about 1 GB. */
const script = `
  import { createServer, serve } from ${JSON.stringify(new URL("../../dist/api/index.js", import.meta.url).href)};
  const server = createServer({ name: "small", version: "1" }).tool("echo", {}, () => "echoed");
  console.log((await serve(server, "grpc://127.0.0.1:0")).address);
`;
let child: ChildProcess;
let url = "";
beforeEach(async () => {
  child = spawn(process.execPath, ["--max-old-space-size=450", "--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.stdout === null) throw new Error("the child has no output");
  const [line] = await once(createInterface(child.stdout), "line");
  url = String(line).replace("grpc:", "http:");
});
afterEach(() => void child.kill());

/** A call of `echo` whose argument `text` is a list of that many elements, in each of its forms. */
const json = (count: number): Buffer => Buffer.from(`{"name":"echo","arguments":{"text":[${"{},".repeat(count)}1]}}`);
const proto = (count: number): Buffer => {
  const element = field(1, field(5, ""));
  const list = field(6, Buffer.alloc(element.length * count, element));
  return Buffer.concat([field(1, "echo"), field(2, field(1, Buffer.concat([field(1, "text"), field(2, list)])))]);
};
const enveloped = (message: Uint8Array, compressed: boolean): Buffer => framed(message, { compressed });
const base64 = (message: Uint8Array, compressed: boolean): Buffer => Buffer.from(framed(message, { compressed }).toString("base64"));
const whole = (message: Uint8Array): Uint8Array => message;

interface Form {
  readonly type: string;
  readonly method: string;
  message(count: number): Buffer;
  wrap(message: Uint8Array, compressed: boolean): Uint8Array;
  /** The header that says how it is compressed. */
  readonly header: string;
}

const forms: readonly Form[] = [
  { type: "application/proto", method: "CallTool", message: proto, wrap: whole, header: "content-encoding" },
  { type: "application/json", method: "CallTool", message: json, wrap: whole, header: "content-encoding" },
  { type: "application/grpc-web+proto", method: "CallTool", message: proto, wrap: enveloped, header: "grpc-encoding" },
  { type: "application/grpc-web-text", method: "CallTool", message: proto, wrap: base64, header: "grpc-encoding" },
  { type: "application/grpc-web+json", method: "CallTool", message: json, wrap: enveloped, header: "grpc-encoding" },
  {
    type: "application/connect+proto",
    method: "CallToolWithProgress",
    message: proto,
    wrap: enveloped,
    header: "connect-content-encoding",
  },
  { type: "application/connect+json", method: "CallToolWithProgress", message: json, wrap: enveloped, header: "connect-content-encoding" },
];

describe.each(forms)("a small message of $type that would be a large value", ({ type, method, message, wrap, header }) => {
  it.each(["gzip", "plain"])("%s: it is refused in the protocol's own words, and names the limit", async (how) => {
    const zipped = how === "gzip";
    const send = async (count: number): Promise<string> => {
      const bytes = zipped ? gzipSync(message(count)) : message(count);
      const answer = await fetch(`${url}${SERVICE}${method}`, {
        method: "POST",
        headers: { "content-type": type, ...(zipped && { [header]: "gzip" }) },
        body: Uint8Array.from(wrap(bytes, zipped)),
      });
      const body = Buffer.from(await answer.arrayBuffer()).toString("latin1");
      const said = type.includes("web-text") ? body.replace(/[^=]+=*/g, (piece) => Buffer.from(piece, "base64").toString("latin1")) : body;
      return `${[...answer.headers].map(([name, value]) => `${name}: ${value}`).join("\n")}\n${said}`;
    };
    const refused = await send(2_500_000);
    expect(refused).toContain(type.includes("web") ? "grpc-status: 8" : '"code":"resource_exhausted"');
    expect(decodeURIComponent(refused.replace(/%(?![0-9A-F]{2})/g, ""))).toContain("the message holds too many values");
    const data = /mcp-error-data-bin"?:\s*\[?"?([\w+/=-]+)/i.exec(refused)?.[1] ?? "";
    expect(Buffer.from(data, "base64").toString()).toContain("messageValues");
    expect(refused).not.toContain("echoed");
    expect(await send(3)).toContain(type.includes("json") ? '"echoed"' : "echoed");
  });
});
