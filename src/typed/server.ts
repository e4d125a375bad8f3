import { create, type DescFile, type DescMessage, type Message, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { BSR_REF, BSR_REFS, INCLUDE_SCHEMAS, INLINE_SCHEMA, messageBlock, TOOL_ERROR, VALIDATION_FAILED } from "../codec/bufmcpv1/index.js";
import { isTyped } from "../codec/protobuf/index.js";
import {
  type AnyToolHandler,
  type CallToolResult,
  Fault,
  guard,
  type HandlerContext,
  INVALID_ARGUMENTS,
  isObject,
  type JsonObject,
  type MessageTools,
  type Reply,
  type StandardSchema,
  type Validate,
} from "../core/index.js";
import { messageSchema } from "../schema/index.js";
import { encodeBase64 } from "../stream/index.js";
import { Messages, Unfit } from "./messages.js";
import { protovalidate } from "./validate.js";

/** The tools of a server that take messages. */
export function messageTools(): MessageTools {
  const inline = new Map<string, string>();
  return {
    convert(name, { input, output, validate, bsrRef, _meta, ...rest }, handler) {
      if (handler === undefined) throw new Fault("invalid-params", `tool ${name} has no handler`);
      inline.set(name, inlineSchema(input, output));
      const meta = bsrRef === undefined ? _meta : { ..._meta, [BSR_REF]: bsrRef };
      return {
        options: {
          ...rest,
          input: published(input),
          ...(output === undefined ? undefined : { output: published(output) }),
          ...(meta === undefined ? undefined : { _meta: meta }),
        },
        handler: wrapped(input, output, handler as Invoke, validate),
      };
    },
    list(request, context, inner) {
      const wanted = wantedIn(request.params);
      if (wanted === undefined) return inner(context);
      return guard(async function* (within) {
        for await (const reply of inner(within)) {
          const shown = showing(reply, wanted, inline);
          if (shown !== undefined) yield shown;
        }
        return undefined;
      }, context);
    },
  };
}

/** Only publishes the JSON Schema. The message itself is checked elsewhere. */
function published(schema: DescMessage): StandardSchema {
  const json = (): JsonObject => messageSchema(schema);
  return { "~standard": { version: 1, vendor: "anywire", validate: (value) => ({ value }), jsonSchema: { input: json, output: json } } };
}

type Invoke = (message: Message, ctx: HandlerContext) => unknown;

function wrapped(
  input: DescMessage,
  output: DescMessage | undefined,
  handler: Invoke,
  given: Validate | false | undefined,
): AnyToolHandler {
  const takes = new Messages(input);
  const gives = output === undefined ? undefined : new Messages(output);
  let validate: Validate | undefined = given === false ? undefined : given;
  const run = (args: JsonObject, ctx: HandlerContext): unknown => {
    let message: Message;
    try {
      message = takes.read(args);
    } catch (error) {
      if (error instanceof Unfit) return refused(error.message, {});
      throw error;
    }
    const broken = validate?.(input, message) ?? [];
    if (broken.length > 0) {
      const told = broken.map(({ field, rule, message: why }) => `${field}: ${why} [${rule}]`).join("\n");
      return refused(told, { field: broken[0]?.field ?? "", rule: broken[0]?.rule ?? "" });
    }
    const settle = (made: unknown): unknown => (gives === undefined ? made : resultOf(gives, made, isTyped(args)));
    const made = handler(message, ctx);
    if (isGenerator(made))
      return (async function* () {
        return settle(yield* made);
      })();
    return made instanceof Promise ? made.then(settle) : settle(made);
  };
  if (given !== undefined) return run;
  return (args: JsonObject, ctx: HandlerContext) => {
    if (validate !== undefined) return run(args, ctx);
    // The handler may return a generator, so waiting for the validator is a generator too.
    return (async function* () {
      validate = await protovalidate();
      const made = await run(args, ctx);
      return isGenerator(made) ? yield* made : made;
    })();
  };
}

function isGenerator(made: unknown): made is AsyncGenerator<unknown, unknown, undefined> {
  return typeof made === "object" && made !== null && Symbol.asyncIterator in made;
}

/** Packs the result if the caller packed its arguments; otherwise it is ordinary JSON. */
function resultOf(gives: Messages, made: unknown, packed: boolean): unknown {
  if (!isObject(made) || made["$typeName"] !== gives.schema.typeName) return made;
  const message = made as unknown as Message;
  if (!packed) return { structuredContent: gives.json(message) };
  const { "@type": url, value } = gives.packed(message);
  return { content: [messageBlock(url, value)] };
}

/** A result that says why the tool did not run. On proto-mcp it becomes the error of the call. */
function refused(why: string, data: Readonly<Record<string, string>>): CallToolResult {
  const message = `${INVALID_ARGUMENTS}${why}`;
  return {
    content: [{ type: "text", text: message }],
    isError: true,
    _meta: { [TOOL_ERROR]: { code: VALIDATION_FAILED, message, ...(Object.keys(data).length === 0 ? undefined : { data }) } },
  } as CallToolResult;
}

interface Wanted {
  readonly refs: ReadonlySet<unknown> | undefined;
  readonly schemas: boolean;
}

/** What a proto-mcp request asks of a list in addition to its items. */
function wantedIn({ _meta }: JsonObject): Wanted | undefined {
  if (!isObject(_meta)) return undefined;
  const refs = _meta[BSR_REFS];
  const schemas = _meta[INCLUDE_SCHEMAS] === true;
  const filter = Array.isArray(refs) && refs.length > 0 ? new Set<unknown>(refs) : undefined;
  return filter === undefined && !schemas ? undefined : { refs: filter, schemas };
}

function showing(reply: Reply, { refs, schemas }: Wanted, inline: ReadonlyMap<string, string>): Reply | undefined {
  if (reply.kind !== "item") return reply;
  const meta = isObject(reply.value["_meta"]) ? reply.value["_meta"] : {};
  if (refs !== undefined && !refs.has(meta[BSR_REF])) return undefined;
  const set = schemas ? inline.get(String(reply.value["name"])) : undefined;
  // A tool has one schema source. A client that asks for the descriptor gets that.
  const { [BSR_REF]: _, ...others } = meta;
  return set === undefined ? reply : { kind: "item", value: { ...reply.value, _meta: { ...others, [INLINE_SCHEMA]: set } } };
}

/** The files of the messages in base64, without those that every reader has. */
function inlineSchema(...schemas: readonly (DescMessage | undefined)[]): string {
  const files = new Map<string, DescFile>();
  const add = (file: DescFile): void => {
    if (files.has(file.proto.name) || /^(google\/protobuf|buf\/validate)\//.test(file.proto.name)) return;
    for (const each of file.dependencies) add(each);
    files.set(file.proto.name, file);
  };
  for (const schema of schemas) if (schema !== undefined) add(schema.file);
  const set = create(FileDescriptorSetSchema, { file: [...files.values()].map(({ proto }) => proto) });
  return encodeBase64(toBinary(FileDescriptorSetSchema, set));
}
