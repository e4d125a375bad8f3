import type { DescMessage } from "@bufbuild/protobuf";
import type { Fault } from "../fault.js";
import type { JsonObject } from "../json.js";
import type { TypedHandler, TypedToolOptions } from "../message-tools.js";
import type { LogLevel } from "../methods.js";
import type { Resource } from "../protocol.js";
import type { Message, Service } from "../service.js";
import type { Feature } from "./changes.js";
import type { CompleteAny } from "./completion.js";
import type { HandlerContext, TemplateContext } from "./context.js";
import type { PromptArguments, PromptCatalogue, PromptHandler, PromptOptions } from "./prompts.js";
import type { ResourceCatalogue, ResourceReader, TemplateOptions } from "./resources.js";
import type { Handled } from "./run.js";
import type { InputOf, OutputOf, Schema } from "./standard.js";
import type { ToolCatalogue, ToolHandler, ToolOptions } from "./tools.js";

export interface ServerOptions {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  readonly websiteUrl?: string;
  readonly icons?: readonly JsonObject[];
  readonly instructions?: string;
  /** Capabilities in addition to those that follow from what is registered: `experimental`, `extensions`. */
  readonly capabilities?: JsonObject;
  /** How long clients may cache lists and reads, and who may. Without it, edges say that they may not be cached. */
  readonly ttlMs?: number;
  readonly cacheScope?: "public" | "private";
}

export type MethodHandler = (params: JsonObject, ctx: HandlerContext) => Handled<JsonObject | undefined>;
export type NotificationHandler = (notification: Message, ctx: HandlerContext) => void | Promise<void>;

/** No schema of a message: otherwise TypeScript takes the handler of such a tool for one of JSON. */
interface NoMessage {
  readonly typeName?: never;
}

/** A service made of handlers. Each name can be registered once. You can register more while it serves. */
export interface Server extends Service {
  tool(name: string, handler: ToolHandler): Server;
  /** A tool with JSON Schemas, or schemas of a library such as Zod. */
  tool<I extends Schema & NoMessage = JsonObject, O extends Schema = JsonObject>(
    name: string,
    options: ToolOptions<I, O>,
    handler: ToolHandler<OutputOf<I>, InputOf<O>>,
  ): Server;
  /** A tool of messages, with schemas that protoc-gen-es generated: needs `import "anywire/typed"`. */
  tool<I extends DescMessage, O extends DescMessage>(name: string, options: TypedToolOptions<I, O>, handler: TypedHandler<I, O>): Server;
  /** The first one again, because TypeScript explains errors by the last. */
  tool<I extends Schema = JsonObject, O extends Schema = JsonObject>(
    name: string,
    options: ToolOptions<I, O>,
    handler: ToolHandler<OutputOf<I>, InputOf<O>>,
  ): Server;
  tools(catalogue: ToolCatalogue): Server;
  resource(resource: Resource, read: ResourceReader): Server;
  resourceTemplate(template: TemplateOptions, read: ResourceReader<TemplateContext>): Server;
  resources(catalogue: ResourceCatalogue): Server;
  // biome-ignore lint/complexity/noBannedTypes: no arguments are declared until some are
  prompt<const A extends PromptArguments = {}>(name: string, options: PromptOptions<A>, handler: PromptHandler<A>): Server;
  prompts(catalogue: PromptCatalogue): Server;
  /** Completes what the `complete` functions of prompts and templates do not. */
  completion(complete: CompleteAny): Server;
  /** Answers a method that the protocol does not have. */
  method(name: string, handler: MethodHandler): Server;
  /** Calls the handler for a client's notifications of one method, or of all with `*`. The returned function stops that. */
  onNotification(method: string, handler: NotificationHandler): () => void;
  /** Calls the listener with what handlers threw that was not a Fault, with its cause. The returned function stops that. */
  onFault(listener: (fault: Fault) => void): () => void;
  /** Tells listening clients that a list has changed. */
  changed(feature: Feature): void;
  /** Tells subscribed clients that a resource has changed. */
  updated(uri: string): void;
  /** Logs outside any call, to all open sessions. */
  log(level: LogLevel, data: unknown, logger?: string): void;
  /** Log entries that were dropped because a session did not read them in time. */
  readonly droppedLogs: number;
  /** Ends the calls that only listen, with their result. Other calls continue. */
  close(): void;
}
