// One side of a cell, under whatever runtime starts it: `server ADDRESS` or `client ADDRESS`, where an address may be a command in JSON.
import { readFileSync } from "node:fs";
import { connect, createServer, elicit, progress, serve } from "../../dist/api/index.js";

const BIG = 8 * 1024 * 1024;
const [, , side, address] = process.argv;
const secure = /^(sse\+|proto\+)?(https|wss|grpcs|tls):/.test(address);
const pem = secure ? JSON.parse(readFileSync(process.env.TLS_FILE, "utf8")) : undefined;
// A runtime that hangs must not stay behind.
setTimeout(() => process.exit(3), 60_000).unref?.();

if (side === "server") {
  const server = createServer({ name: "runtimes", version: "1" })
    .tool("count", {}, async function* () {
      for (let at = 1; at <= 3; at++) yield progress(at, 3);
      return "counted";
    })
    .tool("greet", {}, async function* () {
      const { content } = yield* elicit({ message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } });
      return `hello ${content?.name}`;
    })
    .resource({ uri: "test://big", name: "big" }, async function* () {
      const chunk = new Uint8Array(64 * 1024).fill(7);
      for (let at = 0; at < BIG; at += chunk.length) yield chunk.slice();
    });
  const listener = await serve(server, address, secure ? { tls: { cert: pem.cert, key: pem.key } } : {});
  if (!address.endsWith("stdio:")) {
    process.stdout.write(`${listener.address}\n`);
    // Whoever started it ends it by closing its stdin.
    process.stdin.resume();
    await new Promise((resolve) => process.stdin.once("end", resolve));
    await listener.close();
  } else await listener.closed;
  process.exit(0);
} else {
  try {
    await visit("auto");
    // Sessions of the legacy era use other requests and streams.
    if (!/proto\+|http\+stdio|sse\+/.test(address)) await visit("legacy");
    process.stdout.write("ok\n");
    process.exit(0);
  } catch (error) {
    process.stdout.write(`${error instanceof Error ? `${error.message}\n${error.stack}` : error}\n`);
    process.exit(1);
  }
}

async function visit(era) {
  const to = address.startsWith("{") ? JSON.parse(address) : address;
  const client = await connect(to, {
    era,
    ...(secure && { tls: { ca: pem.ca } }),
    elicit: () => ({ action: "accept", content: { name: "Ada" } }),
  });
  const { tools } = await client.listTools();
  same(tools.map(({ name }) => name).join(), "count,greet");
  const steps = [];
  await client.callTool("count", {}, { onProgress: (step) => steps.push(step.progress) });
  same(steps.join(), "1,2,3");
  same((await client.callTool("greet")).content[0].text, "hello Ada");
  let bytes = 0;
  for await (const { data } of client.readChunks("test://big")) bytes += data.length;
  same(bytes, BIG);
  // Many at a time share a connection, or open several.
  await Promise.all(Array.from({ length: 50 }, () => client.callTool("count")));
  await client.close();
}

function same(found, wanted) {
  if (found !== wanted) throw new Error(`${wanted} was expected, and ${found} came`);
}
