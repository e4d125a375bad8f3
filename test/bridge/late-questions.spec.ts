import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, it, vi } from "vitest";
import { bridge } from "../../src/bridge/index.js";
import { patience } from "../fixtures/children/index.js";
import { rawLines } from "./fixtures/raw-lines.js";

const question = { message: "Who?", requestedSchema: { type: "object", properties: {} } };

it("a question that names no call outlives the call during which it was asked", async () => {
  const answers: unknown[] = [];
  const server = await rawLines("tools/call", ({ id, method, result, error }, send) => {
    if (method === undefined) return void answers.push(result ?? error);
    send({ id: "late", method: "elicitation/create", params: question });
    send({ id, result: { content: [{ type: "text", text: "done" }] } });
  });
  await using made = await bridge({ listen: ["http://127.0.0.1:0/mcp"], to: server.address, sessions: "own" });
  const client = new Client({ name: "late", version: "1" }, { capabilities: { elicitation: {} } });
  let over = (): void => {};
  const isOver = new Promise<void>((resolve) => {
    over = resolve;
  });
  client.setRequestHandler(ElicitRequestSchema, async () => {
    await isOver;
    return { action: "accept", content: {} };
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(made.listeners[0]?.address ?? "")));
  await client.callTool({ name: "asks" });
  over();
  await vi.waitFor(() => expect(answers).toEqual([{ action: "accept", content: {} }]), patience);
  await client.close();
  server.close();
});
