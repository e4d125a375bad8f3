/** A legacy server on stdio without any library, so that what a bridge does to its messages shows as it is. */
import { createInterface } from "node:readline";
import { FLOOD, FLOOD_BYTES } from "../sizes.js";

type Id = string | number;
interface Params {
  readonly name?: string;
  readonly arguments?: { readonly text?: string };
  readonly requestId?: Id;
  readonly protocolVersion?: string;
  readonly _meta?: { readonly progressToken?: Id };
}

const send = (message: object): boolean => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (said: string): object => ({ content: [{ type: "text", text: said }], vendorMember: { kept: null } });
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const hanging = new Set<Id>();
const cancelled = { known: 0, unknown: 0 };

async function progress(params: Params, count: number, ms: number, message?: string): Promise<void> {
  const progressToken = params._meta?.progressToken;
  for (let at = 1; at <= count; at++) {
    const room = send({
      method: "notifications/progress",
      params: { progressToken, progress: at, total: count, ...(message && { message }) },
    });
    if (ms > 0) await pause(ms);
    else if (!room) await new Promise((resolve) => process.stdout.once("drain", resolve));
  }
}

const tools: Record<string, (params: Params, id: Id) => object | undefined | Promise<object>> = {
  echo: ({ arguments: given }) => text(String(given?.text)),
  size: ({ arguments: given }) => text(String(given?.text?.length)),
  pid: () => text(String(process.pid)),
  paced: async (params) => {
    await progress(params, 4, 50);
    return text("done");
  },
  burst: (params) => {
    const progressToken = params._meta?.progressToken;
    for (let at = 1; at <= 20; at++) send({ method: "notifications/progress", params: { progressToken, progress: at, total: 20 } });
    return text("done");
  },
  steady: async (params) => {
    await progress(params, 20, 50);
    return text("done");
  },
  flood: async (params) => {
    await progress(params, FLOOD, 0, "x".repeat(FLOOD_BYTES));
    return text("done");
  },
  log: ({ arguments: given }) => {
    send({ method: "notifications/message", params: { level: "error", data: given?.text } });
    return text("logged");
  },
  hang: (_params, id) => void hanging.add(id) as undefined,
  cancels: () => text(`${cancelled.known} known, ${cancelled.unknown} unknown`),
  die: () => process.exit(1),
};

const answers: Record<string, (params: Params, id: Id) => object | undefined | Promise<object>> = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, logging: {} },
    serverInfo: { name: "raw", version: "1" },
  }),
  "tools/list": () => ({ tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: "object" } })) }),
  "tools/call": (params, id) => tools[params.name ?? ""]?.(params, id),
  "logging/setLevel": () => ({}),
  "vendor/echo": (params) => ({ given: params }),
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params = {} } = JSON.parse(line) as { id?: Id; method?: string; params?: Params };
  if (method === "notifications/cancelled") cancelled[hanging.delete(params.requestId as Id) ? "known" : "unknown"]++;
  if (id === undefined || method === undefined) return;
  const answer = answers[method];
  if (answer === undefined) return void send({ id, error: { code: -32601, message: "unknown method" } });
  const result = await answer(params, id);
  if (result !== undefined) send({ id, result });
});
process.stdin.on("end", () => process.exit());
