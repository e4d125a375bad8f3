import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { connect, type JsonObject } from "../../src/api/index.js";
import { patience } from "../fixtures/children/index.js";
import { LEGACY } from "./requests.js";

/**
 * A legacy server that names no call in what it asks, takes its time to open the stream that it asks on, and drops its question while
 * there is none: its call then never ends.
 */
class AskingServer {
  /** The stream of each session, once it is open. */
  readonly sessions = new Map<string, ServerResponse | undefined>();
  /** What the answer to a client's `initialized` waits for. */
  greeted: Promise<void> | undefined;
  /** How many clients have sent `initialized`. */
  greetings = 0;
  /** The calls whose question is open, by its id. */
  readonly #waiting = new Map<string, ServerResponse>();
  readonly #server = createServer((request, response) => void this.#handle(request, response));
  #count = 0;

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const session = String(request.headers["mcp-session-id"]);
    let text = "";
    for await (const chunk of request) text += chunk;
    const message = (text === "" ? {} : JSON.parse(text)) as JsonObject & { readonly id?: string | number };
    const answer = (result: JsonObject, to: ServerResponse = response, id: unknown = message.id): void => {
      to.writeHead(200, { "content-type": "application/json", "mcp-session-id": session }).end(
        JSON.stringify({ jsonrpc: "2.0", id, result }),
      );
    };
    if (message["method"] === "initialize") {
      const id = `session-${++this.#count}`;
      this.sessions.set(id, undefined);
      response.setHeader("mcp-session-id", id);
      response.writeHead(200, { "content-type": "application/json" });
      const serverInfo = { name: "asking", version: "1" };
      const result = { protocolVersion: LEGACY, capabilities: { tools: {} }, serverInfo };
      return void response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
    }
    if (!this.sessions.has(session)) return void response.writeHead(404).end();
    if (request.method === "DELETE") return void response.writeHead(200).end();
    if (request.method === "GET") {
      await new Promise((resolve) => setTimeout(resolve, 200));
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      return void this.sessions.set(session, response);
    }
    if (message["method"] === "notifications/initialized") {
      this.greetings++;
      await this.greeted;
    }
    if (message["method"] === "tools/call") {
      const id = `of ${message.id}`;
      this.#waiting.set(id, response);
      response.on("close", () => this.#waiting.delete(id));
      const params = { message: "who?", requestedSchema: { type: "object", properties: {} } };
      const question = { jsonrpc: "2.0", id, method: "elicitation/create", params };
      return void this.sessions.get(session)?.write(`data: ${JSON.stringify(question)}\n\n`);
    }
    if (message["method"] === undefined && message["result"] !== undefined) {
      const call = this.#waiting.get(String(message.id));
      const id = String(message.id).replace("of ", "");
      if (call !== undefined) answer({ content: [{ type: "text", text: "asked" }] }, call, Number.isNaN(Number(id)) ? id : Number(id));
    }
    response.writeHead(202).end();
  }
}

const server = new AskingServer();
let url: string;
beforeAll(async () => {
  url = await server.open();
});
afterAll(() => server.close());

it("a call in which a legacy server asks waits for the stream that it asks on, at the start and in a session that begins anew", async () => {
  await using client = await connect(url, { era: "legacy", elicit: () => ({ action: "accept", content: {} }) });
  expect((await client.callTool("ask")).content).toEqual([{ type: "text", text: "asked" }]);
  server.sessions.clear();
  expect((await client.callTool("ask")).content).toEqual([{ type: "text", text: "asked" }]);
});

it("a call that comes while a session begins anew waits for that stream, too", async () => {
  await using client = await connect(url, { era: "legacy", elicit: () => ({ action: "accept", content: {} }) });
  await client.callTool("ask");
  let greet = (): void => {};
  server.greeted = new Promise((resolve) => {
    greet = resolve;
  });
  server.greetings = 0;
  server.sessions.clear();
  const first = client.callTool("ask");
  // The client knows the new session now, and has not asked for its stream.
  await vi.waitFor(() => expect(server.greetings).toBe(1), patience);
  const second = client.callTool("ask");
  // Time for a call that would not wait.
  await new Promise((resolve) => setTimeout(resolve, 100));
  greet();
  for (const { content } of await Promise.all([first, second])) expect(content).toEqual([{ type: "text", text: "asked" }]);
});
