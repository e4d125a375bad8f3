import { Fault, isObject, type JsonObject, jsonText, rpcCodes } from "../../core/index.js";
import { decodeBase64, encodeBase64 } from "../../stream/index.js";
import { type Misfit, misfit, pathTo, type Slot, type Table } from "../protobuf/index.js";
import { mcpv1Table } from "./dialect.js";

// A peer that was compiled against the base reads the fields of the base and skips all others. Nothing that it cannot read is dropped
// silently: a request is refused, and an answer is refused or gets a substitute. The page of the mapping lists both.

/** Members of a request's `_meta` that a base server cannot fulfil, or that travel in metadata. */
export const dispensableMeta: ReadonlySet<string> = new Set(["progressToken", "traceparent", "tracestate", "baggage"]);

/** Members of an answer without which it means something else. */
export const vitalMembers: ReadonlySet<string> = new Set(["inputRequests", "requestState", "task", "nextCursor"]);

/** The params of a request in a form for a base server. Throws if something would be lost. */
export function requestForBase(table: Table, params: JsonObject): JsonObject {
  // Everything that the handshake says about a client is optional, so a server does without what it does not know.
  const mode = table.name === "InitializeRequest" ? "answer" : "request";
  return walk(table, params, { mode, unfit: unsayable }, "params");
}

/** An answer, or a part of one, in a form for a base client. Throws if its meaning would change. */
export function answerForBase(table: Table, value: JsonObject, path: string): JsonObject {
  return walk(table, value, { mode: "answer", unfit: uncarried }, path);
}

/** Throws if a text cannot be written. */
export function baseText(text: string, path: string): void {
  const why = misfit("string", text);
  if (why !== undefined) throw uncarried(path, why);
}

/** An error in a form for a base client. Whatever is wrong with it, it stays an error. */
export function errorForBase(error: JsonObject): JsonObject {
  const { code, message, data } = error;
  const notes: string[] = [];
  const fits = misfit("int32", code) === undefined;
  if (!fits) notes.push(`code ${JSON.stringify(code)}`);
  if (data !== undefined && misfit("value", data) !== undefined) notes.push(`data ${jsonText(data)}`);
  const told = wellFormed(typeof message === "string" ? message : "");
  return {
    ...error,
    code: fits ? code : rpcCodes.internal,
    message: notes.length === 0 ? told : `${told} [${notes.join(", ")}]`,
    ...(notes.some((note) => note.startsWith("data")) ? { data: undefined } : undefined),
  };
}

/** The text with each lone surrogate written as its escape. */
export function wellFormed(text: string): string {
  return misfit("string", text) === undefined ? text : String(JSON.parse(JSON.stringify(text).replace(/\\(ud[89a-f])/g, "\\\\$1")));
}

interface Walk {
  readonly mode: "request" | "answer";
  readonly unfit: (path: string, why: string) => Fault;
}

function unsayable(path: string, why: string): Fault {
  return new Fault("invalid-params", `the gRPC server cannot be told ${path}: ${why}`, { data: { path } });
}

function uncarried(path: string, why: string): Fault {
  const where = path.replace(/^\./, "");
  return new Fault("internal", `the client's gRPC messages cannot carry ${where}: ${why}`, { data: { path: where } });
}

const ABSENT = "the base of mcp.v1 has no field for it";

/** Checks every member. Returns the object with its substitutes, or the same object if there are none. */
function walk(table: Table, given: JsonObject, how: Walk, path: string): JsonObject {
  const value = how.mode === "answer" ? standIn(table, given) : given;
  let changed: Record<string, unknown> | undefined;
  const variant = table.variants?.get(value["type"]);
  for (const name of Object.keys(value)) {
    const member = value[name];
    // As in protobuf's own JSON, null means absent.
    if (member === undefined || member === null) continue;
    const here = pathTo(path, name);
    const slot = table.byMember.get(name) ?? variant?.table?.byMember.get(name);
    if (slot?.field.lift !== true && slot?.member === "_meta" && how.mode === "request") checkMeta(slot, table, member, how, here);
    else if (slot === undefined || slot.field.added === true) {
      const lost = how.mode === "request" ? !(variant !== undefined && name === "type") : vitalMembers.has(name) || isOpen(name, member);
      if (lost) throw how.unfit(here, ABSENT);
    } else {
      const kept = walkSlot(slot, member, how, here);
      if (kept !== member) (changed ??= { ...value })[name] = kept;
    }
  }
  return changed ?? value;
}

/** Whether a result says that it is not the whole answer. */
function isOpen(name: string, value: unknown): boolean {
  return name === "resultType" && value !== "complete";
}

function checkMeta(slot: Slot, table: Table, meta: unknown, how: Walk, path: string): void {
  if (!isObject(meta)) throw how.unfit(path, "it is not an object");
  for (const name of Object.keys(meta)) {
    if (dispensableMeta.has(name) || table.lifts?.has(name) === true) continue;
    const here = pathTo(path, name);
    if (slot.field.added === true) throw how.unfit(here, ABSENT);
    const why = misfit("string", meta[name]) ?? misfit("string", name);
    if (why !== undefined) throw how.unfit(here, why);
  }
}

function walkSlot(slot: Slot, value: unknown, how: Walk, path: string): unknown {
  switch (slot.role) {
    case "message":
      if (!isObject(value)) throw how.unfit(path, "it is not an object");
      return walk(slot.table, value, how, path);
    case "messages": {
      if (!Array.isArray(value)) throw how.unfit(path, "it is not an array");
      const elements = value.map((element, at) => {
        if (!isObject(element)) throw how.unfit(`${path}[${at}]`, "it is not an object");
        return walk(slot.table, element, how, `${path}[${at}]`);
      });
      return elements.some((element, at) => element !== value[at]) ? elements : value;
    }
    case "union": {
      const chosen = isObject(value) ? slot.alternatives?.get(value["type"]) : undefined;
      if (chosen === undefined) throw how.unfit(path, "its type is not known");
      return walkSlot(chosen, value, how, path);
    }
    case "group": {
      if (!isObject(value)) throw how.unfit(path, "it is not an object");
      for (const name of Object.keys(value)) {
        const part = slot.parts.find(({ field }) => field.part === name);
        if (part === undefined) throw how.unfit(pathTo(path, name), ABSENT);
        walkSlot(part, value[name], how, pathTo(path, name));
      }
      return value;
    }
    case "octets":
      return canonical(value, how, path);
    case "enums":
      // Without an audience it is for everybody, which is what several roles mean.
      return value;
    default: {
      const inside = (found: Misfit): never => {
        throw how.unfit(`${path}${found.path}`, found.why);
      };
      const why = misfit(slot.role, value, inside, slot.names);
      if (why !== undefined) throw how.unfit(path, why);
      return value;
    }
  }
}

/** Normalises any kind of base64 to standard base64. */
function canonical(value: unknown, how: Walk, path: string): unknown {
  if (typeof value !== "string") throw how.unfit(path, "it is not a string");
  const plain = value.replace(/[-_]/g, (letter) => (letter === "-" ? "+" : "/")).replace(/=+$/, "");
  try {
    const bytes = decodeBase64(plain + "=".repeat((4 - (plain.length % 4)) % 4));
    const text = encodeBase64(bytes);
    return text === value ? value : text;
  } catch {
    throw how.unfit(path, "it is not base64");
  }
}

const contentTable = mcpv1Table("Content");
const results: ReadonlySet<Table> = new Set([mcpv1Table("CallToolResponse"), mcpv1Table("ToolResult")]);

/** The substitute for a value that the base does not know. */
function standIn(table: Table, value: JsonObject): JsonObject {
  if (table === contentTable) {
    const variant = table.variants?.get(value["type"]);
    if (variant !== undefined && variant.field.added !== true) return value;
    const kind = typeof value["type"] === "string" ? value["type"] : "unknown";
    return {
      type: "text",
      text: `[content of type ${wellFormed(kind)}, which this client's protocol does not have] ${jsonText(value)}`,
    };
  }
  const { content, structuredContent } = value;
  const bare = content === undefined || (Array.isArray(content) && content.length === 0);
  if (!results.has(table) || structuredContent === undefined || !bare) return value;
  return { ...value, content: [{ type: "text", text: jsonText(structuredContent) }] };
}
