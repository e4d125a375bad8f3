import { connect, type ListenAddress, type McpClient } from "../api/index.js";

export interface WireTourOptions {
  readonly print: (line: string) => void;
  /** Ends the tour early. */
  readonly signal?: AbortSignal | undefined;
}

/** Shows the demo server, which listens at these addresses, on four wires: something else on each. */
export async function wireTour(addresses: readonly ListenAddress[], { print, signal }: WireTourOptions): Promise<void> {
  for (const [wire, title, show] of stops) {
    const found = addresses.find((each) => each.wire === wire);
    if (found === undefined || signal?.aborted === true) continue;
    await using client = await connect(found.address, {
      signal,
      elicit: ({ message }) => {
        print(`    the server asks: ${message} (answered: Ada)`);
        return { action: "accept", content: { name: "Ada" } };
      },
    });
    print(`  ${title}, ${client.server.version}:`);
    await show(client, (line) => print(`    ${line}`));
  }
}

type Show = (client: McpClient, print: (line: string) => void) => Promise<void>;

const stops: readonly (readonly [wire: string, title: string, show: Show])[] = [
  ["http", "over Streamable HTTP", tools],
  ["sse", "over HTTP+SSE", question],
  ["websocket", "over WebSocket", progress],
  ["grpc", "over gRPC", resource],
];

async function tools(client: McpClient, print: (line: string) => void): Promise<void> {
  const names: string[] = [];
  for await (const { name } of client.tools()) names.push(name);
  print(`${names.length} tools: ${names.slice(0, 6).join(", ")}, …`);
}

async function question(client: McpClient, print: (line: string) => void): Promise<void> {
  print(`greet: ${JSON.stringify((await client.callTool("greet")).content[0]?.["text"])}`);
}

async function progress(client: McpClient, print: (line: string) => void): Promise<void> {
  const seen: string[] = [];
  for await (const event of client.streamTool("count", { to: 4, ms: 50 }))
    if (event.kind === "progress") seen.push(String(event.progress.message ?? event.progress.progress));
  print(`count, with progress: ${seen.join(", ")}`);
}

async function resource(client: McpClient, print: (line: string) => void): Promise<void> {
  const began = performance.now();
  let bytes = 0;
  for await (const { data } of client.readChunks("demo://generated/100mb")) bytes += data.length;
  print(`${bytes / 1e6} MB of a resource, as they come: ${Math.round(bytes / 1e3 / (performance.now() - began))} MB/s`);
}
