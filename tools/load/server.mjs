// A light legacy server on stdio. It names no call in what it asks and logs. Its arguments mean nothing to it: they tell whose it is.
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (value) => ({ content: [{ type: "text", text: value }] });
const waiting = new Map();
let asked = 0;

const tools = {
  echo: ({ secret }) => text(secret),
  pid: () => text(String(process.pid)),
  slow: ({ secret, ms = 20 }) => new Promise((resolve) => setTimeout(() => resolve(text(secret)), ms)),
  fail: () => Promise.reject(new Error("as told")),
  progress({ secret }, token) {
    for (let step = 1; step <= 5 && token !== undefined; step++)
      send({ method: "notifications/progress", params: { progressToken: token, progress: step, total: 5, message: secret } });
    return text(secret);
  },
  ask({ secret }) {
    const id = `ask ${++asked}`;
    send({ id, method: "elicitation/create", params: { message: secret, requestedSchema: { type: "object", properties: {} } } });
    return new Promise((resolve) =>
      waiting.set(id, ({ result, error }) => resolve(text(result?.content?.answer ?? error?.message ?? "declined"))),
    );
  },
};
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, resources: {} },
    serverInfo: { name: "light", version: "1" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: "object" } })) }),
  "tools/call": ({ name, arguments: args, _meta }) => tools[name](args ?? {}, _meta?.progressToken),
  "resources/read": ({ uri }) => ({ contents: [{ uri, text: uri.repeat(64) }] }),
};

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params = {}, ...rest } = JSON.parse(line);
  if (method === undefined) {
    waiting.get(id)?.(rest);
    waiting.delete(id);
    return;
  }
  if (id === undefined) return;
  const answer = answers[method];
  if (answer === undefined) return send({ id, error: { code: -32601, message: "unknown method" } });
  try {
    send({ id, result: await answer(params) });
  } catch (error) {
    send({ id, error: { code: -31000, message: error.message } });
  }
});
