import { type Command, connect, type McpClient } from "../api/index.js";

type Print = (line: string) => void;

export interface TourOptions {
  readonly print: Print;
  /** Ends the tour early. */
  readonly signal?: AbortSignal | undefined;
}

/** Starts the demo as a child and shows on `print` what its client sees. Ends by itself. */
export async function tour(command: Command, { print, signal }: TourOptions): Promise<void> {
  await using client = await connect(command, {
    signal,
    elicit: ({ message }) => {
      print(`  the server asks: ${message} (answered: Ada)`);
      return { action: "accept", content: { name: "Ada" } };
    },
  });
  const { info, era, version } = client.server;
  print(`Connected to ${info?.name} ${info?.version} over stdio; it speaks ${version}, the ${era} era.`);
  const stop = (): void => void client.close();
  signal?.addEventListener("abort", stop, { once: true });
  try {
    for (const [title, step] of steps) {
      print(`\n${title}`);
      await step(client, (line) => print(`  ${line}`));
    }
  } finally {
    signal?.removeEventListener("abort", stop);
  }
  print(next);
}

type Step = (client: McpClient, print: Print) => Promise<void>;

const steps: readonly (readonly [title: string, step: Step])[] = [
  ["Tools, as they stream in:", tools],
  ["A slow tool, with progress:", progress],
  ["A tool that asks in the middle of its call:", question],
  ["A tool that logs:", logs],
  ["100 MB of a resource, in chunks:", resource],
  ["A resource that changes every second:", change],
];

async function tools(client: McpClient, print: Print): Promise<void> {
  for await (const tool of client.tools()) print(`${tool.name.padEnd(12)} ${tool.description}`);
}

async function progress(client: McpClient, print: Print): Promise<void> {
  for await (const event of client.streamTool("count", { to: 4, ms: 100 })) {
    if (event.kind === "progress") print(`${"#".repeat(event.progress.progress * 5).padEnd(20, ".")} ${event.progress.message}`);
    if (event.kind === "result") print(`result: ${JSON.stringify(event.result.content)}`);
  }
}

async function question(client: McpClient, print: Print): Promise<void> {
  print(`result: ${JSON.stringify((await client.callTool("greet")).content)}`);
}

async function logs(client: McpClient, print: Print): Promise<void> {
  for await (const event of client.streamTool("stream-logs", { entries: 5, ms: 20 }, { logLevel: "notice" }))
    if (event.kind === "log") print(`${event.entry.level.padEnd(8)} ${JSON.stringify(event.entry.data)}`);
}

async function resource(client: McpClient, print: Print): Promise<void> {
  const began = performance.now();
  let bytes = 0;
  let chunks = 0;
  for await (const { data } of client.readChunks("demo://generated/100mb")) {
    bytes += data.length;
    chunks++;
  }
  const seconds = (performance.now() - began) / 1000;
  const resident = Math.round(process.memoryUsage.rss() / 2 ** 20);
  print(`${bytes} bytes in ${chunks} chunks, ${Math.round(bytes / 1e6 / seconds)} MB/s; this process holds ${resident} MiB in all`);
}

async function change(client: McpClient, print: Print): Promise<void> {
  for await (const { uri, change } of client.watch("demo://clock")) {
    const { contents } = await client.readResource(uri);
    print(`${uri} ${change}: ${contents[0]?.text?.trim()}`);
    break;
  }
}

const next = `
Try next (in place of the demo, any command that starts an MCP server):
  anywire tools -- anywire demo
  anywire call count to=20 -- anywire demo
  anywire call order -- anywire demo
  anywire read demo://generated/1gb -o 1gb.bin -- anywire demo
  anywire read demo://file --offset 67108800 -- anywire demo
  anywire watch 'demo://*' -- anywire demo
  anywire tools --json -- anywire demo --many-tools | head -3
  anywire --help

From this directory: node bin/anywire.js in place of anywire.`;
