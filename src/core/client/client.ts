import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { Fault, toFault } from "../fault.js";
import { type JsonObject, noParams } from "../json.js";
import { type CallTypedOptions, messageSupport, type ToolMessages } from "../message-tools.js";
import type { LogLevel } from "../methods.js";
import type {
  CallToolResult,
  CompleteResult,
  CompletionRef,
  DiscoverResult,
  GetPromptResult,
  Implementation,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Tool,
} from "../protocol.js";
import type { Message, Replies } from "../service.js";
import type { Connection } from "../wire.js";
import { Ambient } from "./ambient.js";
import type { ResourceChunk } from "./chunks.js";
import { Engine } from "./engine.js";
import { type ListenFilter, listenStream } from "./listen.js";
import { listItems, listPage } from "./lists.js";
import type {
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListToolsResult,
  McpClient,
  PageParams,
} from "./mcp-client.js";
import type { CallOptions, ClientOptions, ListOptions } from "./options.js";
import { type ReadOptions, readChunks } from "./read-chunks.js";
import { declares, requireCapability, type ServerView, serverView } from "./server-view.js";
import type { Stream } from "./stream.js";
import { streamTool, type ToolEvent } from "./tool-stream.js";
import { type ResourceChange, type WatchOptions, watch } from "./watch.js";

/** The client's info unless the user gives another. */
export const clientInfo: Implementation = { name: "anywire", version: "0.1.0" };

/** Takes over a connection and asks the server what it is. Closes the connection if that fails. */
export async function createClient(connection: Connection, options: ClientOptions = {}): Promise<McpClient> {
  const engine = new Engine(connection, options, options.info ?? clientInfo);
  const client = new StreamingClient(engine);
  try {
    await client.discover();
  } catch (error) {
    // A server that does not know discover may still answer everything else.
    if (toFault(error).code === "unknown-method") return client;
    await client.close();
    throw error;
  }
  return client;
}

class StreamingClient implements McpClient {
  readonly #engine: Engine;
  readonly #ambient: Ambient;
  #server: ServerView;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#server = serverView(engine.service, undefined);
    this.#ambient = new Ambient(engine);
    this.#ambient.open();
    void this.closed.then((reason) => engine.lost(reason ?? closing()));
  }

  get server(): ServerView {
    return this.#server;
  }

  get closed(): Promise<Fault | undefined> {
    return this.#engine.service.closed;
  }

  can(capability: string): boolean {
    return declares(this.#server.capabilities, capability);
  }

  tools(options: ListOptions = {}): Stream<Tool> {
    return listItems(this.#engine, "tools/list", options);
  }

  resources(options: ListOptions = {}): Stream<Resource> {
    return listItems(this.#engine, "resources/list", options);
  }

  resourceTemplates(options: ListOptions = {}): Stream<ResourceTemplate> {
    return listItems(this.#engine, "resources/templates/list", options);
  }

  prompts(options: ListOptions = {}): Stream<Prompt> {
    return listItems(this.#engine, "prompts/list", options);
  }

  async listTools(params: PageParams = {}, options: ListOptions = {}): Promise<ListToolsResult> {
    return (await listPage(this.#engine, "tools/list", params.cursor, options)) as ListToolsResult;
  }

  async listResources(params: PageParams = {}, options: ListOptions = {}): Promise<ListResourcesResult> {
    return (await listPage(this.#engine, "resources/list", params.cursor, options)) as ListResourcesResult;
  }

  async listResourceTemplates(params: PageParams = {}, options: ListOptions = {}): Promise<ListResourceTemplatesResult> {
    return (await listPage(this.#engine, "resources/templates/list", params.cursor, options)) as ListResourceTemplatesResult;
  }

  async listPrompts(params: PageParams = {}, options: ListOptions = {}): Promise<ListPromptsResult> {
    return (await listPage(this.#engine, "prompts/list", params.cursor, options)) as ListPromptsResult;
  }

  async callTool(name: string, args?: JsonObject, options?: CallOptions): Promise<CallToolResult> {
    return this.#engine.complete(await this.#engine.call("tools/call", withArguments(name, args), options)) as CallToolResult;
  }

  callTyped<I extends DescMessage, O extends DescMessage>(
    name: string,
    messages: ToolMessages<I, O>,
    message: MessageInitShape<I>,
    options?: CallTypedOptions,
  ): Promise<MessageShape<O>> {
    const support = messageSupport();
    return support instanceof Fault ? Promise.reject(support) : support.call(this, name, messages, message, options);
  }

  streamTool(name: string, args?: JsonObject, options: CallOptions = {}): Stream<ToolEvent> {
    return streamTool(this.#engine, withArguments(name, args), options);
  }

  async readResource(uri: string, options?: CallOptions): Promise<ReadResourceResult> {
    return this.#engine.complete(await this.#engine.call("resources/read", { uri }, options)) as ReadResourceResult;
  }

  readChunks(uri: string, options: ReadOptions = {}): Stream<ResourceChunk> {
    return readChunks(this.#engine, uri, options);
  }

  watch(patterns: string | readonly string[], options: WatchOptions = {}): Stream<ResourceChange> {
    return watch(this.#engine, this.#server, patterns, options);
  }

  listen(filter: ListenFilter, options: CallOptions = {}): Stream<Message> {
    return listenStream(this.#engine, this.#server, filter, options);
  }

  async getPrompt(name: string, args?: Readonly<Record<string, string>>, options?: CallOptions): Promise<GetPromptResult> {
    return this.#engine.complete(await this.#engine.call("prompts/get", withArguments(name, args), options)) as GetPromptResult;
  }

  async complete(
    ref: CompletionRef,
    argument: { readonly name: string; readonly value: string },
    context?: { readonly arguments?: Readonly<Record<string, string>> },
    options?: CallOptions,
  ): Promise<CompleteResult> {
    requireCapability(this.#server, "complete arguments", ["completions"]);
    const params = context === undefined ? { ref, argument } : { ref, argument, context };
    return this.#engine.complete(await this.#engine.call("completion/complete", params, options)) as CompleteResult;
  }

  async discover(options?: CallOptions): Promise<DiscoverResult> {
    const result = this.#engine.complete(await this.#engine.call("server/discover", {}, options)) as DiscoverResult;
    this.#server = serverView(this.#engine.service, result);
    return result;
  }

  async ping(options?: CallOptions): Promise<void> {
    await this.#engine.call(this.#engine.client.era === "legacy" ? "ping" : "server/discover", {}, options);
  }

  call(method: string, params: JsonObject = {}, options?: CallOptions): Promise<JsonObject> {
    return this.#engine.call(method, params, options);
  }

  stream(method: string, params: JsonObject = {}, options: CallOptions = {}): Replies {
    return this.#engine.exchange(method, params, { ...options, progress: true });
  }

  notify(method: string, params: JsonObject = noParams): Promise<void> {
    return this.#engine.notify({ method, params });
  }

  async rootsChanged(): Promise<void> {
    if (this.#engine.client.era === "legacy") await this.notify("notifications/roots/list_changed");
  }

  setLogLevel(level: LogLevel): void {
    this.#engine.logLevel = level;
    this.#ambient.reopen();
  }

  async close(): Promise<void> {
    this.#ambient.close();
    this.#engine.close(closing());
    await this.#engine.service.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function withArguments(name: string, args: JsonObject | undefined): JsonObject {
  return args === undefined ? { name } : { name, arguments: args };
}

function closing(): Fault {
  return new Fault("unavailable", "the client was closed", { data: { reason: "closed" } });
}
