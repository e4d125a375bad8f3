/**
 * The floor: as many bytes as it is asked for, and nothing else. Argument: `pipe`, for lines of numbers on its input and the bytes on its
 * output; `lines`, for the same bytes there as lines of base64; or `http`, for paths of numbers. There it prints its address.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import type { Writable } from "node:stream";
import { octets } from "../octets.js";

async function write(size: number, to: Writable, text = false): Promise<void> {
  for await (const chunk of octets(size, "same", () => {})) {
    const room = text ? to.write(`${Buffer.from(chunk.buffer, 0, chunk.length).toString("base64")}\n`, "latin1") : to.write(chunk);
    if (!room) await once(to, "drain");
  }
}

const [, , form] = process.argv;
if (form === "pipe" || form === "lines") {
  for await (const line of createInterface({ input: process.stdin })) await write(Number(line), process.stdout, form === "lines");
} else {
  const server = createServer(async (request, response) => {
    response.writeHead(200, { "content-type": "application/octet-stream" });
    await write(Number(request.url?.slice(1)), response);
    response.end();
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
}
