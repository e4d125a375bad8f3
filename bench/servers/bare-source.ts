/**
 * The floor: as many bytes as it is asked for, and nothing else. Argument: `pipe`, for lines of numbers on its input and the bytes on its
 * output; or `http`, for paths of numbers. There it prints its address.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import type { Writable } from "node:stream";
import { octets } from "../octets.js";

async function write(size: number, to: Writable): Promise<void> {
  for await (const chunk of octets(size, "same", () => {})) if (!to.write(chunk)) await once(to, "drain");
}

if (process.argv[2] === "pipe") {
  for await (const line of createInterface({ input: process.stdin })) await write(Number(line), process.stdout);
} else {
  const server = createServer(async (request, response) => {
    response.writeHead(200, { "content-type": "application/octet-stream" });
    await write(Number(request.url?.slice(1)), response);
    response.end();
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
}
