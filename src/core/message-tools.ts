import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { McpClient } from "./client/mcp-client.js";
import type { CallOptions } from "./client/options.js";
import { Fault } from "./fault.js";
import { isObject } from "./json.js";
import type { CallToolResult } from "./protocol.js";
import type { HandlerContext } from "./server/context.js";
import type { Handled } from "./server/run.js";
import type { StandardSchema } from "./server/standard.js";
import type { AnyToolHandler, ToolOptions } from "./server/tools.js";
import type { Context, Replies, Request } from "./service.js";

// Tools that take and give messages of protobuf. Servers and clients have them by their types alone: what makes them work is `anywire/typed`.

export interface TypedToolOptions<I extends DescMessage, O extends DescMessage>
  extends Omit<ToolOptions, "input" | "output" | "inputSchema" | "outputSchema"> {
  readonly input: I;
  /** What the handler gives; without it, whatever other tools may give. */
  readonly output?: O;
  /** Checks messages before the tool runs: by the rules of `buf.validate` unless given; `false` for not at all. */
  readonly validate?: Validate | false;
  /** Where the schema is published, such as `buf.build/acme/tools/acme.v1.GreetRequest:v1`. */
  readonly bsrRef?: string;
}

export type TypedHandler<I extends DescMessage, O extends DescMessage> = (
  message: MessageShape<I>,
  ctx: HandlerContext,
) => Handled<MessageShape<O> | CallToolResult | string>;

/** A rule that a message breaks: the field it is about, the rule's name, and what is wrong. */
export interface BrokenRule {
  readonly field: string;
  readonly rule: string;
  readonly message: string;
}

/** Checks messages against the rules of their own schema; what it gives is empty if none is broken. */
export type Validate = (schema: DescMessage, message: MessageShape<DescMessage>) => readonly BrokenRule[];

export interface CallTypedOptions extends CallOptions {
  /** Checks the message before it is sent: by the rules of `buf.validate` unless given; `false` for not at all. */
  readonly validate?: Validate | false;
}

/** The messages that a tool takes and gives. */
export interface ToolMessages<I extends DescMessage, O extends DescMessage> {
  readonly input: I;
  readonly output: O;
}

/** The tools of one server that take messages. */
export interface MessageTools {
  /** Such a tool as one of JSON. */
  convert(
    name: string,
    options: TypedToolOptions<DescMessage, DescMessage>,
    handler: AnyToolHandler | undefined,
  ): { readonly options: ToolOptions<StandardSchema, StandardSchema>; readonly handler: AnyToolHandler };
  /** Answers a list of tools with the schemas that are asked for. */
  list(request: Request, context: Context, inner: (context: Context) => Replies): Replies;
}

/** What `anywire/typed` brings. */
export interface MessageSupport {
  tools(): MessageTools;
  call<I extends DescMessage, O extends DescMessage>(
    client: McpClient,
    name: string,
    messages: ToolMessages<I, O>,
    message: MessageInitShape<I>,
    options: CallTypedOptions | undefined,
  ): Promise<MessageShape<O>>;
}

let support: MessageSupport | undefined;

export function supportMessages(given: MessageSupport): void {
  support = given;
}

/** A fault where it was not imported. */
export function messageSupport(): MessageSupport | Fault {
  return support ?? new Fault("invalid-params", 'messages of protobuf need their module: add import "anywire/typed"');
}

const messages = new WeakSet<object>();

/** Notes that arguments came as a message of protobuf. In JSON they are `{ "@type", "value" }`, which may be ordinary arguments, too. */
export function noteMessage(args: object): void {
  messages.add(args);
}

/** Whether arguments are known to be a message of protobuf: no JSON, so nothing for a tool that takes JSON. */
export function isMessage(args: unknown): args is { readonly "@type": string } {
  return isObject(args) && messages.has(args);
}

/** Whether a tool's options are those of one that takes messages. */
export function takesMessages(options: { readonly input?: unknown }): options is TypedToolOptions<DescMessage, DescMessage> {
  // A program without types may leave them out.
  const { input } = options ?? {};
  return isObject(input) && input["kind"] === "message" && typeof input["typeName"] === "string";
}
