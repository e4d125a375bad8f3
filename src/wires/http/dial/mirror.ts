import type { IncomingResult } from "../../../codec/index.js";
import {
  type Connection,
  type Context,
  DONE,
  Fault,
  isObject,
  type Replies,
  type ReplyStep,
  type Request,
  toFault,
} from "../../../core/index.js";
import type { ParamHeader } from "../param-headers.js";
import type { ToolHeaders } from "../tool-headers.js";

/** A tool list without the tools whose annotations are wrong: the specification asks clients to leave them out. The others are noted. */
export function withoutWrongTools(message: IncomingResult, tools: ToolHeaders, warn: (fault: Fault) => void): IncomingResult {
  const listed = message.value["tools"];
  if (!Array.isArray(listed)) return message;
  const kept = listed.filter((tool: unknown) => {
    const wrong = tools.learn(tool);
    if (wrong === undefined) return true;
    const name = isObject(tool) ? String(tool["name"]) : "";
    warn(new Fault("invalid-params", `the tool ${name} is left out: ${wrong}`, { data: { name } }));
    return false;
  });
  return kept.length === listed.length ? message : { ...message, value: { ...message.value, tools: kept } };
}

/** A connection that repeats a tool call once if it was refused because of its headers and the tool list now asks for others. */
export function mirroring(connection: Connection, tools: ToolHeaders): Connection {
  if (connection.era === "legacy") return connection;
  const { era, protocolVersion, closed, check } = connection;
  const close = (): Promise<void> => connection.close();
  return {
    era,
    protocolVersion,
    closed,
    call: (request, context) =>
      request.method === "tools/call" ? new Mirrored(connection, tools, request, context) : connection.call(request, context),
    notify: (notification, context) => connection.notify(notification, context),
    check,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A call that may be refused because of its headers. Nothing has run then, so it may be made again. */
class Mirrored implements Replies {
  readonly #connection: Connection;
  readonly #tools: ToolHeaders;
  readonly #request: Request;
  readonly #context: Context;
  #inner: Replies;
  #begun = false;
  #left = false;

  constructor(connection: Connection, tools: ToolHeaders, request: Request, context: Context) {
    this.#connection = connection;
    this.#tools = tools;
    this.#request = request;
    this.#context = context;
    this.#inner = connection.call(request, context);
  }

  [Symbol.asyncIterator](): Replies {
    return this;
  }

  next(): Promise<ReplyStep> {
    if (this.#begun) return this.#inner.next();
    this.#begun = true;
    const mirrored = this.#mirrored;
    return this.#inner.next().catch((error) => this.#again(toFault(error), mirrored));
  }

  return(): Promise<ReplyStep> {
    this.#begun = this.#left = true;
    return this.#inner.return();
  }

  get #mirrored(): readonly ParamHeader[] {
    return this.#tools.of(this.#request.params["name"]) ?? [];
  }

  async #again(fault: Fault, mirrored: readonly ParamHeader[]): Promise<ReplyStep> {
    if (fault.code !== "header-mismatch" || this.#left) throw fault;
    const list = (this.#inner = this.#connection.call({ method: "tools/list", params: {} }, { ...this.#context, progress: false }));
    try {
      for await (const reply of list) if (reply.kind === "item" && reply.value["name"] === this.#request.params["name"]) break;
    } catch {
      throw this.#context.cancel.reason ?? fault;
    }
    if (this.#left) return DONE;
    if (JSON.stringify(this.#mirrored) === JSON.stringify(mirrored)) throw fault;
    this.#inner = this.#connection.call(this.#request, this.#context);
    return this.#inner.next();
  }
}
