import { expect, it } from "vitest";
import { any } from "../../src/api/any.js";
import { wireFor } from "../../src/api/wires.js";
import type { Address, Wire } from "../../src/core/index.js";
import { grpc } from "../../src/wires/grpc/index.js";
import { http } from "../../src/wires/http/index.js";
import { lines } from "../../src/wires/lines/index.js";
import { memory } from "../../src/wires/memory/index.js";
import { protomcp } from "../../src/wires/protomcp/index.js";
import { sse } from "../../src/wires/sse/index.js";
import { stdio } from "../../src/wires/stdio/index.js";
import { websocket } from "../../src/wires/websocket/index.js";

const wires: readonly Wire[] = [any, grpc, http, lines, memory, protomcp, sse, stdio, websocket];
const protocols = ["", "proto+", "tunnel+", "sse+", "any+", "mcp+"];
const carriers = ["http", "https", "ws", "wss", "grpc", "grpcs", "tcp", "tls", "any", "ftp"].map((scheme) => `${scheme}://127.0.0.1:8000`);
const paths = ["http+unix:/tmp/s", "grpc+unix:/tmp/s", "any+unix:/tmp/s", "ws+unix:/tmp/s", "unix:/tmp/s", "http+stdio:", "grpc+stdio:"];
const others = ["stdio:", "memory:", "memory:name", "127.0.0.1:8000", "/tmp/s", "", "httpx://a", "xhttp://a"];
const texts = [...carriers, ...paths, ...others].flatMap((address) => protocols.map((protocol) => protocol + address));
const commands = [undefined, "stdio", "http+stdio", "grpc+stdio", "proto+stdio"].map((speaks) => ({
  command: "server",
  ...(speaks !== undefined && { speaks }),
}));

// The front door repeats the patterns of the wires, because a wire is loaded only for an address of its own.
it.each(([...texts, ...commands] as Address[]).map((address) => [JSON.stringify(address), address] as const))(
  "%s belongs to the wire that accepts it, and to no other",
  async (_, address) => {
    const found = await wireFor(address).catch(() => undefined);
    expect(found === undefined ? [] : [found.name]).toEqual(wires.filter((wire) => wire.accepts(address)).map(({ name }) => name));
    expect(found?.accepts(address)).not.toBe(false);
  },
);

it("every wire has an address", async () => {
  const found = await Promise.all(([...texts, ...commands] as Address[]).map((address) => wireFor(address).catch(() => undefined)));
  expect(new Set(found.flatMap((wire) => wire?.name ?? []))).toEqual(new Set(wires.map(({ name }) => name)));
});
