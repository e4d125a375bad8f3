/**
 * The Anywire end of every pair, in the era that its client chooses. Arguments: `plain`, `list` or `many`, the tools it lists; where it
 * listens, on stdio unless given. Elsewhere it prints its address.
 */
import { createServer, progress, serve } from "anywire";
import { heapHeld, held, memoryProbe } from "../memory.js";
import { type Buffers, octets } from "../octets.js";
import { BURST, CHUNK, FLOOD, FLOOD_BYTES, MANY } from "../sizes.js";
import { benchTool, TOOLS } from "../tools.js";

const probe = memoryProbe();
let made = 0;
let produced = 0;
/** When the last call that hung was left, in epoch milliseconds. */
let left = 0;
const server = createServer({ name: "bench-anywire", version: "1.0.0" })
  .tool(
    "echo",
    { input: { type: "object", properties: { text: { type: "string" } }, required: ["text"], additionalProperties: false } },
    ({ text }) => text as string,
  )
  .tool("burst", {}, async function* () {
    for (let at = 1; at <= BURST; at++) yield progress(at, BURST);
    return "done";
  })
  .tool("made", {}, () => String(made))
  .tool("watch-memory", {}, () => {
    probe.start();
    return "watching";
  })
  .tool("memory", {}, () => JSON.stringify(probe.stop()))
  .tool("held", {}, () => String(held()))
  .tool("heap", {}, () => String(heapHeld()))
  .tool("flood", {}, async function* () {
    const text = "x".repeat(FLOOD_BYTES);
    for (made = 0; made < FLOOD; made++) yield progress(made, FLOOD, text);
    return "done";
  })
  .tool("hang", {}, (_args, { cancel }) => {
    return new Promise<string>((resolve) =>
      cancel.on(() => {
        left = performance.timeOrigin + performance.now();
        resolve("left");
      }),
    );
  })
  .tool("left", {}, () => String(left))
  .tool("produced", {}, () => String(produced))
  .resourceTemplate({ uriTemplate: "bench://octets/{buffers}/{size}", name: "octets" }, (_uri, { variables, range }) => {
    const size = Number(variables["size"]);
    // A source that can seek begins at the chunk that the range begins in.
    const offset = Math.floor((range?.offset ?? 0) / CHUNK) * CHUNK;
    produced = 0;
    const each = (): void => {
      produced += CHUNK;
      probe.sample();
    };
    return { size, offset, data: octets(size - offset, variables["buffers"] as Buffers, each) };
  });

const [what, address = "stdio:"] = process.argv.slice(2);
if (what === "many")
  server.tools({
    async *list() {
      for (let at = 0; at < MANY; at++) {
        made++;
        yield benchTool(at);
      }
    },
    call: () => undefined,
  });
if (what === "list")
  for (let at = 0; at < TOOLS; at++) {
    const { name, inputSchema, ...rest } = benchTool(at);
    server.tool(name, { ...rest, input: inputSchema }, () => "");
  }

const listener = await serve(server, address);
if (!address.endsWith("stdio:")) console.log(listener.address);
