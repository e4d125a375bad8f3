import { checkNumbers, Fault, isObject, type JsonObject, rpcCodes } from "../../core/index.js";
import { type Misfit, misfit, pathTo, type Slot, setMember, type Table } from "../protobuf/index.js";

// A base peer reads the fields of the base and skips all others. A request that has others is refused, so that it is not carried out with
// parts missing. Of an answer, what the base has no field for is left out, unless that would change its meaning.

/** Members of an answer without which it means something else. */
export const bufVitalMembers: ReadonlySet<string> = new Set(["inputRequests", "requestState", "task"]);

/** Members of a request's `_meta` that a base server cannot fulfil, or that only Anywire and MCP's own edges read. */
export const bufDispensableMeta: RegExp = /^(progressToken|traceparent|tracestate|baggage|dev\.anywire\/.*|io\.modelcontextprotocol\/.*)$/;

const ABSENT = "the base of buf.mcp.v1 has no field for it";

interface Walk {
  readonly request: boolean;
  readonly unfit: (path: string, why: string) => Fault;
}

const asRequest: Walk = {
  request: true,
  unfit: (path, why) => new Fault("invalid-params", `the proto-mcp server cannot be told ${path}: ${why}`, { data: { path } }),
};
const asAnswer: Walk = {
  request: false,
  unfit: (path, why) => new Fault("internal", `the client's proto-mcp messages cannot carry ${path}: ${why}`, { data: { path } }),
};

/** Params in a form for a base server. Throws if something would be lost. */
export function baseRequest(table: Table, params: JsonObject): JsonObject {
  checkNumbers(params, "params");
  return walk(table, params, asRequest, "params");
}

/** A result in a form for a base client. Throws if its meaning would change. */
export function baseAnswer(table: Table, result: JsonObject): JsonObject {
  const kept = walk(table, result, asAnswer, "result");
  // What is left out, such as the JSON Schema of a typed tool, may have any number.
  checkNumbers(kept, "result", "internal");
  return kept;
}

/** An error in a form for a base client. Whatever is wrong with it, it stays an error. */
export function baseError({ code, message, data }: JsonObject): JsonObject {
  const told = {
    code: misfit("int32", code) === undefined ? code : rpcCodes.internal,
    message: String(message).replace(/\p{Surrogate}/gu, "\ufffd"),
  };
  if (data === undefined) return told;
  const said = isObject(data) ? data : { value: data };
  return misfit("struct", said) === undefined ? { ...told, data: said } : told;
}

function walk(table: Table, value: JsonObject, how: Walk, path: string): JsonObject {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const member = value[name];
    // As in protobuf's own JSON, null means absent.
    if (member === undefined || member === null) continue;
    const here = pathTo(path, name);
    const slot = table.byMember.get(name);
    if (name === "_meta") {
      const meta = isObject(member) ? metaOf(table, slot, member, how, here) : undefined;
      if (meta !== undefined) kept[name] = meta;
    } else if (slot === undefined || slot.field.added === true) {
      if (how.request || bufVitalMembers.has(name) || (name === "resultType" && member !== "complete")) throw how.unfit(here, ABSENT);
    } else kept[name] = walkSlot(slot, member, how, here);
  }
  return kept;
}

/** Strings go into the map, where there is one. */
function metaOf(table: Table, slot: Slot | undefined, meta: JsonObject, how: Walk, path: string): JsonObject | undefined {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(meta)) {
    const inMap = slot !== undefined && slot.field.added !== true && misfit("string", meta[name]) === undefined;
    if (table.lifts?.has(name) === true || (inMap && misfit("string", name) === undefined)) setMember(kept, name, meta[name]);
    else if (how.request && !bufDispensableMeta.test(name)) throw how.unfit(pathTo(path, name), inMap ? "its name is no text" : ABSENT);
  }
  return Object.keys(kept).length === 0 ? undefined : kept;
}

function walkSlot(slot: Slot, value: unknown, how: Walk, path: string): unknown {
  if (slot.role === "message") {
    if (!isObject(value)) throw how.unfit(path, "it is not an object");
    return walk(slot.table as Table, value, how, path);
  }
  if (slot.role === "messages") {
    if (!Array.isArray(value)) throw how.unfit(path, "it is not an array");
    return value.map((element, at) => {
      if (!isObject(element)) throw how.unfit(`${path}[${at}]`, "it is not an object");
      return walk(slot.table as Table, element, how, `${path}[${at}]`);
    });
  }
  const inside = (found: Misfit): never => {
    throw how.unfit(`${path}${found.path}`, found.why);
  };
  const why = misfit(slot.role, value, inside, slot.names);
  if (why !== undefined) throw how.unfit(path, why);
  return value;
}
