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

/** What is left of a list's result beside its items: `_meta`, `ttlMs` and the like. */
export interface ListResult extends JsonObject {
  /** Of a single page that is not the last. */
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

/** With a cursor (any string) one page, unchanged; without one the whole list. */
export interface PageParams {
  readonly cursor?: string | undefined;
}

/** A client of one server, on any wire. A stream is one call: leaving its loop cancels it. */
export interface McpClient extends AsyncDisposable {
  /** What the server said of itself when it was last asked. */
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

  /** The whole resource, octets in base64 as in the protocol. */
  readResource(uri: string, options?: CallOptions): Promise<ReadResourceResult>;
  /** The resource as it arrives, octets as octets. A range that the server ignores is cut here. */
  readChunks(uri: string, options?: ReadOptions): Stream<ResourceChunk>;
  /**
   * Changes of the resources that match the patterns: `*` and `?` within a segment, `**` across segments, `{a,b}`; `\` takes
   * the next character literally. `created` and `deleted` are differences of the resource list. A URI without glob characters is watched
   * even if it is not in the list. What the reader has not taken yet is merged, one change a URI.
   */
  watch(patterns: string | readonly string[], options?: WatchOptions): Stream<ResourceChange>;
  /** One subscription, as the server tells it: the acknowledgement first. */
  listen(filter: ListenFilter, options?: CallOptions): Stream<Message>;

  getPrompt(name: string, args?: Readonly<Record<string, string>>, options?: CallOptions): Promise<GetPromptResult>;
  /** `context` holds the arguments that are already known. */
  complete(
    ref: CompletionRef,
    argument: { readonly name: string; readonly value: string },
    context?: { readonly arguments?: Readonly<Record<string, string>> },
    options?: CallOptions,
  ): Promise<CompleteResult>;

  /** Asks the server anew what it is; `server` follows. */
  discover(options?: CallOptions): Promise<DiscoverResult>;
  /** Resolves when the server has answered. */
  ping(options?: CallOptions): Promise<void>;

  /** Any method. Results of every type pass, except that input which one requires is given. */
  call(method: string, params?: JsonObject, options?: CallOptions): Promise<JsonObject>;
  /** Any method, reply by reply. Asks are answered and do not appear. */
  stream(method: string, params?: JsonObject, options?: CallOptions): Replies;
  /** A notification of no call; resolves when the link took it. */
  notify(method: string, params?: JsonObject): Promise<void>;
  /** Tells a legacy server that the roots changed; a modern one asks each time. */
  rootsChanged(): Promise<void>;
  /** The level that later calls ask for, and from now on what belongs to no call. */
  setLogLevel(level: LogLevel): void;

  /** Resolves with the reason when the connection has ended; undefined after close(). */
  readonly closed: Promise<Fault | undefined>;
  /** Every open call fails, then the connection is closed. */
  close(): Promise<void>;
}
