import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { Fault } from "../fault.js";
import type { JsonObject } from "../json.js";
import type { CallTypedOptions, ToolMessages } from "../message-tools.js";
import type { LogLevel } from "../methods.js";
import type {
  CallToolResult,
  CompleteResult,
  CompletionRef,
  DiscoverResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Tool,
} from "../protocol.js";
import type { Message, Replies } from "../service.js";
import type { ResourceChunk } from "./chunks.js";
import type { ListenFilter } from "./listen.js";
import type { CallOptions, ListOptions } from "./options.js";
import type { ReadOptions } from "./read-chunks.js";
import type { ServerView } from "./server-view.js";
import type { Stream } from "./stream.js";
import type { ToolEvent } from "./tool-stream.js";
import type { ResourceChange, WatchOptions } from "./watch.js";

/** The members of a list's result other than its items: `_meta`, `ttlMs` and the like. */
export interface ListResult extends JsonObject {
  /** Set on a single page that is not the last. */
  readonly nextCursor?: string;
}
export interface ListToolsResult extends ListResult {
  readonly tools: readonly Tool[];
}
export interface ListResourcesResult extends ListResult {
  readonly resources: readonly Resource[];
}
export interface ListResourceTemplatesResult extends ListResult {
  readonly resourceTemplates: readonly ResourceTemplate[];
}
export interface ListPromptsResult extends ListResult {
  readonly prompts: readonly Prompt[];
}

/** With a cursor (any string): one page, unchanged. Without: the whole list. */
export interface PageParams {
  readonly cursor?: string | undefined;
}

/** A client of one server, on any wire. A stream is one call: leaving its loop cancels it. */
export interface McpClient extends AsyncDisposable {
  /** What the server said about itself when it was last asked. */
  readonly server: ServerView;
  /** Whether the server declares a capability: `tools`, `resources.subscribe`, `extensions.com.example/x`. */
  can(capability: string): boolean;

  tools(options?: ListOptions): Stream<Tool>;
  resources(options?: ListOptions): Stream<Resource>;
  resourceTemplates(options?: ListOptions): Stream<ResourceTemplate>;
  prompts(options?: ListOptions): Stream<Prompt>;
  listTools(params?: PageParams, options?: ListOptions): Promise<ListToolsResult>;
  listResources(params?: PageParams, options?: ListOptions): Promise<ListResourcesResult>;
  listResourceTemplates(params?: PageParams, options?: ListOptions): Promise<ListResourceTemplatesResult>;
  listPrompts(params?: PageParams, options?: ListOptions): Promise<ListPromptsResult>;

  /** A tool's failure is a result with `isError`; a fault means that the call itself failed. */
  callTool(name: string, args?: JsonObject, options?: CallOptions): Promise<CallToolResult>;
  /**
   * Calls a tool with a message of protobuf: needs `import "anywire/typed"`. Rejects with a Fault if the message breaks its rules, before
   * anything is sent, and if the tool failed.
   */
  callTyped<I extends DescMessage, O extends DescMessage>(
    name: string,
    messages: ToolMessages<I, O>,
    message: MessageInitShape<I>,
    options?: CallTypedOptions,
  ): Promise<MessageShape<O>>;
  /** The call event by event. Questions in between are answered by the client's handlers. */
  streamTool(name: string, args?: JsonObject, options?: CallOptions): Stream<ToolEvent>;

  /** The whole resource. Binary contents are in base64, as in the protocol. */
  readResource(uri: string, options?: CallOptions): Promise<ReadResourceResult>;
  /** The resource as it arrives, with binary contents as bytes. If the server ignores the range, the client cuts it. */
  readChunks(uri: string, options?: ReadOptions): Stream<ResourceChunk>;
  /**
   * Changes of the resources that match the patterns: `*` and `?` within a segment, `**` across segments, `{a,b}`; `\` takes the next
   * character literally. `created` and `deleted` are differences of the resource list. A URI without glob characters is watched even if it
   * is not in the list. Changes that the reader has not taken yet are merged, so that at most one waits for each URI.
   */
  watch(patterns: string | readonly string[], options?: WatchOptions): Stream<ResourceChange>;
  /** One subscription, as the server reports it: the acknowledgement comes first. */
  listen(filter: ListenFilter, options?: CallOptions): Stream<Message>;

  getPrompt(name: string, args?: Readonly<Record<string, string>>, options?: CallOptions): Promise<GetPromptResult>;
  /** `context` holds the arguments that are already known. */
  complete(
    ref: CompletionRef,
    argument: { readonly name: string; readonly value: string },
    context?: { readonly arguments?: Readonly<Record<string, string>> },
    options?: CallOptions,
  ): Promise<CompleteResult>;

  /** Asks the server again what it is, and updates `server`. */
  discover(options?: CallOptions): Promise<DiscoverResult>;
  /** Resolves when the server has answered. */
  ping(options?: CallOptions): Promise<void>;

  /** Any method. Returns results of every type; if a result requires input, the handlers give it and the call goes on. */
  call(method: string, params?: JsonObject, options?: CallOptions): Promise<JsonObject>;
  /** Any method, reply by reply. Asks are answered by the handlers and do not appear. */
  stream(method: string, params?: JsonObject, options?: CallOptions): Replies;
  /** Sends a notification that belongs to no call. Resolves when the link has taken it. */
  notify(method: string, params?: JsonObject): Promise<void>;
  /** Tells a legacy server that the roots have changed. A modern server asks each time. */
  rootsChanged(): Promise<void>;
  /** The log level of later calls, and from now on of messages outside any call. */
  setLogLevel(level: LogLevel): void;

  /** Resolves with the reason when the connection has ended; undefined after close(). */
  readonly closed: Promise<Fault | undefined>;
  /** Fails every open call, then closes the connection. */
  close(): Promise<void>;
}
