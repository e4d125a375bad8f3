import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { bridge } from "../../src/bridge/index.js";
import type { JsonObject } from "../../src/core/index.js";
import { patience } from "../fixtures/children/index.js";
import { call, events, initialize, LEGACY, post, type Rpc } from "../http/requests.js";

/** A raw legacy server. It asks in every call, on the general stream, and counts its questions from 0 in every session. */
class Forgetful {
  readonly #sessions = new Map<string, { stream?: ServerResponse; asked: number }>();
  readonly #waiting = new Map<string, (answer: JsonObject) => void>();
  readonly #server = createServer((request, response) => void this.#handle(request, response));
  #count = 0;
  /** The answers to questions, with their sessions. */
  readonly answers: string[] = [];

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`;
  }

  /** As after a restart: nobody is connected, and no session is known. */
  forget({ cut }: { readonly cut: boolean }): void {
    this.#sessions.clear();
    if (cut) this.#server.closeAllConnections();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request) text += chunk;
    const message = (text === "" ? {} : JSON.parse(text)) as Rpc;
    const answer = (result: JsonObject, headers = {}): void =>
      void response
        .writeHead(200, { "content-type": "application/json", ...headers })
        .end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
    if (message.method === "initialize") {
      const id = `session ${++this.#count}`;
      this.#sessions.set(id, { asked: 0 });
      const serverInfo = { name: "forgetful", version: "1" };
      return answer({ protocolVersion: LEGACY, capabilities: { tools: {} }, serverInfo }, { "mcp-session-id": id });
    }
    const name = String(request.headers["mcp-session-id"]);
    const session = this.#sessions.get(name);
    if (session === undefined) return void response.writeHead(404).end();
    if (request.method === "GET") {
      session.stream = response.writeHead(200, { "content-type": "text/event-stream" });
      return session.stream.flushHeaders();
    }
    if (message.method === "tools/call") {
      const id = session.asked++;
      this.#waiting.set(`${name}: ${id}`, (given) => answer({ content: [], structuredContent: given }));
      const params = { message: name, requestedSchema: { type: "object", properties: {} } };
      const question = { jsonrpc: "2.0", id, method: "elicitation/create", params };
      return void session.stream?.write(`data: ${JSON.stringify(question)}\n\n`);
    }
    response.writeHead(202).end();
    if (message.method !== undefined) return;
    const which = `${name}: ${message.id}`;
    this.answers.push(which);
    this.#waiting.get(which)?.(message.result ?? {});
  }
}

let server: Forgetful;
const closing: (() => Promise<unknown>)[] = [];
beforeEach(() => {
  server = new Forgetful();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A raw legacy client of a bridge to the server, with its own stream open. It does not answer by itself. */
async function asked(): Promise<{ questions: Rpc[]; withdrawn: unknown[]; send(message: unknown): Promise<Response> }> {
  const to = await server.open();
  closing.push(() => server.close());
  const made = await bridge({ listen: ["http://127.0.0.1:0"], to, sessions: "shared", serve: { drainMs: 100 } });
  closing.push(() => made.close());
  const url = made.listeners[0]?.address ?? "";
  const begun = await post(url, initialize(LEGACY, { elicitation: {} }));
  await begun.text();
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "", "mcp-protocol-version": LEGACY };
  const send = (message: unknown): Promise<Response> => post(url, message, session);
  await send({ jsonrpc: "2.0", method: "notifications/initialized" });
  const leaving = new AbortController();
  closing.push(async () => leaving.abort());
  const questions: Rpc[] = [];
  const withdrawn: unknown[] = [];
  const read = async (stream: Response): Promise<void> => {
    for await (const { message } of events(stream)) {
      if (message?.method === "elicitation/create") questions.push(message);
      if (message?.method === "notifications/cancelled") withdrawn.push(message.params?.["requestId"]);
    }
  };
  const general = await fetch(url, { headers: { ...session, accept: "text/event-stream" }, signal: leaving.signal });
  read(general).catch(() => {});
  return {
    questions,
    withdrawn,
    async send(message) {
      const answered = await send(message);
      const copy = answered.clone();
      read(copy).catch(() => {});
      return answered;
    },
  };
}

const accept = (question: Rpc | undefined, who: string): JsonObject => ({
  jsonrpc: "2.0",
  id: question?.id,
  result: { action: "accept", content: { who } },
});

const of = (questions: readonly Rpc[], session: string): readonly Rpc[] =>
  questions.filter(({ params }) => params?.["message"] === session);

test("a question of a lost session is withdrawn, and its id can be used again", async () => {
  const { questions, withdrawn, send } = await asked();
  const first = send(call(1, "ask"));
  await vi.waitFor(() => expect(questions.length).toBe(1), patience);
  server.forget({ cut: true });
  expect(await (await first).text()).toContain('"error"');
  const second = send(call(2, "ask"));
  await vi.waitFor(() => expect(of(questions, "session 2").length).toBe(1), patience);
  const lost = of(questions, "session 1");
  await vi.waitFor(() => expect(withdrawn).toEqual(lost.map(({ id }) => id)), patience);
  for (const question of lost) await send(accept(question, "late"));
  await send(accept(questions.at(-1), "right"));
  expect(await (await second).text()).toContain('"who":"right"');
  expect(server.answers).toEqual(["session 2: 0"]);
});

test("an answer that meets a lost session is not given to the next one", async () => {
  const { questions, send } = await asked();
  void send(call(1, "ask"));
  await vi.waitFor(() => expect(questions.length).toBe(1), patience);
  server.forget({ cut: false });
  await send(accept(questions[0], "late"));
  const second = send(call(2, "ask"));
  await vi.waitFor(() => expect(of(questions, "session 2").length).toBe(1), patience);
  await send(accept(questions.at(-1), "right"));
  expect(await (await second).text()).toContain('"who":"right"');
  expect(server.answers).toEqual(["session 2: 0"]);
});
