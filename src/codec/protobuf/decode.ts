import { isObject, type JsonObject } from "../../core/index.js";
import { encodeBase64 } from "../../stream/index.js";
import { DEEP, survey } from "../numbers.js";
import { malformed, refused, tooDeep } from "./fault.js";
import { readJsonField, readJsonObject, setMember } from "./json.js";
import { readKeptMeta } from "./kept-meta.js";
import {
  appended,
  type Draft,
  enumName,
  idNumber,
  readAnys,
  readPackedEnums,
  readTextEntry,
  readTextMap,
  readTime,
  readToken,
} from "./read-kinds.js";
import { Reader } from "./reader.js";
import type { Role, Slot, Table } from "./table.js";
import { readAny, readInteger, readNumber, readPacked, readStruct, readUnsigned, readValue } from "./value.js";
import { KEY } from "./write-kinds.js";

/**
 * Reads the rest of the current message as an object. `depth`: how many levels its members may have. A member that comes twice is refused,
 * and so is one among the other members that also has its field: two readers that each look at one of them must not see different messages.
 */
export function readMessage(reader: Reader, table: Table, depth: number): Draft {
  if (depth < 0) throw tooDeep();
  const draft: Draft = {};
  let seen = 0;
  let others: JsonObject | undefined;
  let lifted: Draft | undefined;
  let numeric: string | undefined;
  const { byNumber } = table;
  while (reader.at < reader.end) {
    const tag = reader.tag();
    const number = tag >>> 3;
    const slot = number < byNumber.length ? byNumber[number] : undefined;
    if (slot === undefined) {
      if (number !== table.others) reader.skip(tag);
      else if ((tag & 7) !== 2 || others !== undefined) throw malformed("the other members are no field of bytes");
      else others = readJsonObject(reader, depth + 1);
      continue;
    }
    if ((tag & 7) !== slot.wire && !(slot.role === "enumList" && (tag & 7) === 0)) throw malformed("a field has the wrong wire type");
    if ((seen & slot.mask) !== 0 && (!slot.repeated || (seen & slot.mask) !== slot.bit))
      throw refused(`${table.name}: ${slot.field.name} comes twice`);
    seen |= slot.bit;
    if (slot.role === "variant") {
      draft["type"] = slot.field.when;
      readVariant(reader, slot, draft, depth);
    } else if (slot.role === "flag") {
      if (reader.varint() !== 0) numeric = slot.member;
    } else if (slot.role === "extra") readTextEntry(reader, draft, true);
    else if (slot.lift || slot.field.part !== undefined) {
      if (depth < (slot.lift ? 1 : 0) + (slot.field.part === undefined ? 0 : 1)) throw tooDeep();
      const place = slot.lift ? (lifted ??= {}) : draft;
      if (slot.field.part === undefined) place[slot.member] = readSlot(reader, slot, undefined, depth - 1);
      else partsOf(place, slot)[slot.field.part] = readSlot(reader, slot, undefined, depth - 1);
    } else {
      // It may also have come as a member without a table entry, or with the variant.
      if ((table.rest !== undefined || table.variants !== undefined) && Object.hasOwn(draft, slot.member))
        throw refused(`${table.name}: ${slot.member} comes twice`);
      const value = readSlot(reader, slot, draft[slot.member], depth, (tag & 7) === 2);
      if (value !== undefined) draft[slot.member] = value;
    }
  }
  if (numeric !== undefined) draft[numeric] = idNumber(draft[numeric]);
  if (others === undefined) {
    for (const slot of table.initial) if ((seen & slot.bit) === 0) fill(draft, slot, depth);
    for (const slot of table.open) if ((seen & slot.bit) === 0) partsOf(slot.lift ? (lifted ??= {}) : draft, slot);
  } else mergeOthers(table, draft, others);
  if (lifted !== undefined) addMeta(draft, lifted);
  return draft;
}

/** Adds a required member that a peer left out because it has its default. */
function fill(draft: Draft, slot: Slot, depth: number): void {
  const { initial, part } = slot.field;
  if (part === undefined ? survey(initial, depth) === DEEP : depth < 1) throw tooDeep();
  if (part !== undefined) partsOf(draft, slot)[part] = initial;
  else draft[slot.member] = typeof initial === "object" ? JSON.parse(JSON.stringify(initial)) : initial;
}

/** The object whose members each have a field. */
function partsOf(draft: Draft, { member }: Slot): Draft {
  return (draft[member] ??= {}) as Draft;
}

function mergeOthers(table: Table, draft: Draft, others: JsonObject): void {
  for (const name of Object.keys(others)) {
    if (Object.hasOwn(draft, name)) throw refused(`${table.name}: ${name} comes twice`);
    setMember(draft, name, others[name]);
  }
}

/** Adds members of `_meta` to what was just read. */
export function addMeta(draft: Draft, lifted: JsonObject): void {
  const meta = draft["_meta"];
  if (meta === undefined) draft["_meta"] = lifted;
  else if (!isObject(meta)) throw refused("_meta is not an object");
  else {
    for (const name of Object.keys(lifted)) {
      if (Object.hasOwn(meta, name)) throw refused(`_meta: ${name} comes twice`);
      (meta as Draft)[name] = lifted[name];
    }
  }
}

function readVariant(reader: Reader, slot: Slot, draft: Draft, depth: number): void {
  const outer = reader.enter();
  const inner = readMessage(reader, slot.table, depth);
  reader.leave(outer);
  for (const name of Object.keys(inner)) {
    if (Object.hasOwn(draft, name)) throw refused(`${slot.field.name}: ${name} comes twice`);
    setMember(draft, name, inner[name]);
  }
}

/** Kinds whose value is an array or object that contains no other. */
const flat: ReadonlySet<Role> = new Set(["enums", "enumList", "strings", "map", "metadata", "anys", "packed"]);

/** `depth`: how many levels the value may have. */
function readSlot(reader: Reader, slot: Slot, before: unknown, depth: number, packed = true): unknown {
  if (depth <= 0 && flat.has(slot.role)) throw tooDeep();
  switch (slot.role) {
    case "string":
    case "id":
      return reader.text();
    case "constant":
      reader.text();
      return slot.field.initial;
    case "bool":
      return reader.varint() !== 0;
    case "int32":
      return reader.int32();
    case "int64":
      return readInteger(reader);
    case "double":
      return readNumber(reader);
    case "uint64":
      return readUnsigned(reader);
    case "enum":
      return enumName(slot.names, reader);
    case "enums": {
      const name = enumName(slot.names, reader);
      return name === undefined ? undefined : [name];
    }
    case "enumList":
      return packed ? readPackedEnums(reader, slot.names, before) : appended(before, enumName(slot.names, reader) ?? 0);
    case "octets":
      return encodeBase64(reader.octets());
    case "bytes":
      return reader.octets();
    case "strings":
      return appended(before, reader.text());
    case "map":
      return slot.value === undefined
        ? readTextEntry(reader, (before ?? {}) as Draft, false)
        : readMapEntry(reader, slot.value, (before ?? {}) as Draft, depth - 1);
    case "json": {
      const value = slot.member === "_meta" ? readKeptMeta(reader, depth) : readJsonField(reader, depth);
      if (slot.field.kind !== "value" && slot.field.kind !== "any" && !isObject(value))
        throw refused(`${slot.field.name} is not an object`);
      return value;
    }
    default:
      return readNested(reader, slot, before, depth);
  }
}

function readNested(reader: Reader, slot: Slot, before: unknown, depth: number): unknown {
  const outer = reader.enter();
  let value: unknown;
  switch (slot.role) {
    case "message":
      value = readMessage(reader, slot.table, depth - 1);
      break;
    case "messages":
      value = appended(before, readMessage(reader, slot.table, depth - 2));
      break;
    case "struct":
      value = readStruct(reader, depth);
      break;
    case "value":
      value = readValue(reader, depth);
      break;
    case "any":
      value = readAny(reader, depth);
      break;
    case "typed":
      value = readAny(reader, depth);
      if (!isObject(value)) throw refused(`${slot.field.name} is not an object`);
      break;
    case "packed":
      value = readPacked(reader);
      break;
    case "anys":
      value = readAnys(reader, depth - 1);
      break;
    case "token":
      value = readToken(reader);
      break;
    case "time":
      value = readTime(reader);
      break;
    default:
      value = readTextMap(reader);
  }
  reader.leave(outer);
  return value;
}

/** Reads one entry of a map whose values are not strings. If a key comes again, the last one counts, as in protobuf. */
function readMapEntry(reader: Reader, slot: Slot, into: Draft, depth: number): Draft {
  const outer = reader.enter();
  let name = "";
  let value: unknown;
  let found = false;
  while (reader.at < reader.end) {
    const tag = reader.tag();
    if (tag === KEY) name = reader.text();
    else if (tag === slot.tag) {
      // For an enum 0 means no value. The entry must not look absent.
      value = readSlot(reader, slot, undefined, depth) ?? (slot.role === "enum" ? 0 : null);
      found = true;
    } else if (tag >>> 3 === slot.number) throw malformed("a field has the wrong wire type");
    else reader.skip(tag);
  }
  reader.leave(outer);
  setMember(into, name, found ? value : initialOf(slot, depth));
  return into;
}

const nothing = new Uint8Array([0]);

/** The value of an entry that leaves it out: the default of its kind, which is what empty bytes are read as. */
function initialOf(slot: Slot, depth: number): unknown {
  if (slot.wire === 2) return readSlot(new Reader(nothing), slot, undefined, depth);
  return slot.role === "bool" ? false : 0;
}
