import { connect } from "anywire";
import { listening } from "./child.js";
import { atLeast, type Bench, format, type Outcome } from "./figure.js";
import { start } from "./grpc/peers.js";
import { type Contender, median, type Rated, ratio, takeTurns } from "./rounds.js";
import { counted, reading } from "./transfer.js";

const SIZE = 16 * 1024 ** 2;
const DELAY_MS = 10;

/** 16 MiB through a proxy that holds every byte back, beside a plain fetch of the same resource. */
export const far: Bench = { name: "far", run };

const wires = [
  ["http", "http://127.0.0.1:0/mcp", 1],
  ["ws", "ws://127.0.0.1:0/mcp", 1],
  ["grpc", "grpc://127.0.0.1:0", 1.5],
] as const;

async function run(): Promise<Outcome> {
  const closing: (() => PromiseLike<void>)[] = [];
  const opened = <T extends AsyncDisposable>(resource: T): T => {
    closing.push(() => resource[Symbol.asyncDispose]());
    return resource;
  };
  const behind = async (address: string): Promise<string> => {
    const url = new URL(address);
    const proxy = await start("proxy", url.port, String(DELAY_MS));
    closing.push(() => proxy.close());
    url.port = String(proxy.port);
    return url.href;
  };
  try {
    const contenders: Contender[] = [];
    for (const [name, address] of wires) {
      const server = opened(await listening("anywire", "plain", address));
      contenders.push(reading(name, opened(await connect(await behind(server.address), { era: "modern" })), SIZE));
    }
    const url = await behind(opened(await listening("anywire", "plain", "http://127.0.0.1:0/mcp")).address);
    contenders.push(fetching(url));
    const bare = await behind(opened(await listening("bare-source", "http")).address);
    contenders.push(counted("a plain fetch of the bytes from node:http", async () => bodyOf(`${bare}${SIZE}`), SIZE));
    const rated = await takeTurns(contenders, { rounds: 5, ms: 1, warmUpMs: 500 });
    const floor = rated[wires.length] as Rated;
    return {
      figures: wires.map(([name, , least], at) =>
        atLeast(`${name}: 16 MiB at ${2 * DELAY_MS} ms round trip, over a plain fetch`, ratio(rated[at] as Rated, floor), least, "x"),
      ),
      notes: rated.map(({ name, rates }) => `${name}: ${format((median(rates) * SIZE) / 1024 ** 2, 1)} MiB a second at ${2 * DELAY_MS} ms`),
    };
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

/** The same resource from the same server, as any client gets it that is not ours. */
function fetching(url: string): Contender {
  const uri = `bench://octets/same/${SIZE}`;
  const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri, _meta } });
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "resources/read",
    "mcp-name": uri,
  };
  return counted(
    "a plain fetch",
    async function* () {
      const answer = (await (await fetch(url, { method: "POST", headers, body })).json()) as { result: { contents: [{ blob: string }] } };
      yield Buffer.from(answer.result.contents[0].blob, "base64");
    },
    SIZE,
  );
}

async function* bodyOf(url: string): AsyncGenerator<Uint8Array> {
  const { body } = await fetch(url);
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) yield chunk;
}
