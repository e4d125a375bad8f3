import { Fault, type JsonObject } from "../../core/index.js";
import { utf8Length } from "../../stream/index.js";
import type { AnswerPart } from "../jsonrpc.js";
import {
  type EncodeOptions,
  malformed,
  type Reader,
  readJsonField,
  readMessage,
  refused,
  setMember,
  type Table,
  type Writer,
  writeJsonField,
  writeMessage,
} from "../protobuf/index.js";
import { checkChunkForBase, listPartForBase } from "./base-parts.js";
import { mcpv1Table } from "./dialect.js";
import { TWIN } from "./fields.js";
import { itemTables, type RestPart } from "./items.js";

/** The progress of an answer in parts. One for each call and direction. */
export interface PartState {
  uri: string | undefined;
  mimeType: string | undefined;
  /** Where the next chunk starts. */
  offset: number;
  size: number | undefined;
  /** Whether a content has begun and not ended. */
  begun: boolean;
  /** Whether the peer says where contents begin. */
  told: boolean;
}

export function partState(): PartState {
  return { uri: undefined, mimeType: undefined, offset: 0, size: undefined, begun: false, told: false };
}

const restTable = mcpv1Table("ResultRest");
const beginTable = mcpv1Table("ContentBegin");

/** Writes the members of a list's message. */
export function writeListPart(writer: Writer, method: string, given: AnswerPart | RestPart, options: EncodeOptions): void {
  const part = options.base === true ? listPartForBase(method, given) : given;
  switch (part.kind) {
    case "item": {
      const table = itemTables.get(method);
      if (table === undefined) throw new Fault("internal", `${method} has no items`);
      writer.varint(0x0a);
      inner(writer, table, part.value, options);
      if (part.paged === true) flag(writer, 4);
      break;
    }
    case "page": {
      writer.varint(0x12);
      const from = writer.open();
      if (part.cursor !== "") text(writer, 1, part.cursor);
      if (part.own) flag(writer, 2);
      if (Object.keys(part.rest).length > 0) writeRest(writer, 3, part.rest, options);
      writer.close(from);
      break;
    }
    case "rest":
      writeRest(writer, 3, part.value, options);
      break;
    default:
      throw new Fault("internal", `a list has no ${part.kind}`);
  }
}

/** Writes the members of a ReadResourceChunkedResponse. With a state, chunks name their content and where they start. */
export function writeChunkPart(writer: Writer, part: AnswerPart | RestPart, options: EncodeOptions, state?: PartState): void {
  if (options.base === true) checkChunkForBase(part);
  switch (part.kind) {
    case "content": {
      const { uri, mimeType } = part.head;
      const others: Record<string, unknown> = {};
      for (const name of Object.keys(part.head)) {
        if (name === "uri" ? !optionalText(writer, 1, uri) : name === "mimeType" ? !optionalText(writer, 2, mimeType) : true) {
          setMember(others, name, part.head[name]);
        }
      }
      if (part.offset !== undefined) count(writer, 5, part.offset);
      if (part.size !== undefined) count(writer, 6, part.size);
      writer.varint(0x42);
      const from = writer.open();
      writer.varint(0x08);
      writer.varint(forms.indexOf(part.form));
      writeMessage(writer, beginTable, others, options);
      writer.close(from);
      if (state !== undefined) Object.assign(state, begun(uri, mimeType, part.offset, part.size));
      break;
    }
    case "chunk": {
      if (state !== undefined) writePlace(writer, state);
      const { data } = part;
      if (typeof data === "string") text(writer, 3, data);
      else {
        writer.varint(0x22);
        writer.octets(data);
      }
      if (state !== undefined) state.offset += typeof data === "string" ? utf8Length(data) : data.byteLength;
      break;
    }
    case "rest":
      if (state !== undefined) writePlace(writer, state);
      flag(writer, 7);
      if (Object.keys(part.value).length > 0) writeRest(writer, 9, part.value, options);
      break;
    default:
      throw new Fault("internal", `a read has no ${part.kind}`);
  }
}

/** Writes a chunk up to the point where its `bytes` bytes follow. */
export function writeChunkHead(writer: Writer, bytes: number, state?: PartState): void {
  if (state !== undefined) {
    writePlace(writer, state);
    state.offset += bytes;
  }
  writer.varint(0x22);
  writer.varint(bytes);
}

function begun(uri: unknown, mimeType: unknown, offset = 0, size: number | undefined): Partial<PartState> {
  const said = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
  return { uri: said(uri), mimeType: said(mimeType), offset, size, begun: true };
}

/** Writes what a peer that does not know where contents begin needs in every message. */
function writePlace(writer: Writer, state: PartState): void {
  optionalText(writer, 1, state.uri);
  optionalText(writer, 2, state.mimeType);
  count(writer, 5, state.offset);
  if (state.size !== undefined) count(writer, 6, state.size);
}

const forms = ["unspecified", "text", "blob", "none"] as const;

/** Reads the rest of the current message as a part of a list. `depth`: how many levels the result may have, including itself. */
export function readListPart(reader: Reader, method: string, depth: number): AnswerPart | RestPart | undefined {
  let found: AnswerPart | RestPart | undefined;
  let paged = false;
  const find = (part: AnswerPart | RestPart): void => {
    if (found !== undefined) throw refused("a message of a list holds one item, page or end");
    found = part;
  };
  while (reader.at < reader.end) {
    const tag = reader.tag();
    if (tag === 0x0a) find({ kind: "item", value: entered(reader, itemTables.get(method) as Table, depth - 2) });
    else if (tag === 0x12) find(readPage(reader, depth));
    else if (tag === 0x1a) find({ kind: "rest", value: entered(reader, restTable, depth) });
    else if (tag === 0x20) paged = reader.varint() !== 0;
    else if (tag >>> 3 < 5) throw malformed("a field has the wrong wire type");
    else reader.skip(tag);
  }
  return found?.kind === "item" && paged ? { ...found, paged } : found;
}

function readPage(reader: Reader, depth: number): AnswerPart {
  const outer = reader.enter();
  let cursor = "";
  let own = false;
  let rest: JsonObject = {};
  while (reader.at < reader.end) {
    const tag = reader.tag();
    if (tag === 0x0a) cursor = reader.text();
    else if (tag === (1 + TWIN) * 8 + 2) cursor = readString(reader);
    else if (tag === 0x10) own = reader.varint() !== 0;
    else if (tag === 0x1a) rest = entered(reader, restTable, depth);
    else reader.skip(tag);
  }
  reader.leave(outer);
  return { kind: "page", cursor, rest, own };
}

/**
 * Reads the rest of the current message as parts of a read. A peer that does not mark where contents begin names the content in each chunk:
 * the first chunk of a content begins it.
 */
export function readChunkParts(reader: Reader, depth: number, state: PartState): readonly (AnswerPart | RestPart)[] {
  const parts: (AnswerPart | RestPart)[] = [];
  let uri: string | undefined;
  let mimeType: string | undefined;
  let offset: number | undefined;
  let size: number | undefined;
  let data: string | Uint8Array | undefined;
  let begin: { readonly form: (typeof forms)[number]; readonly head: JsonObject } | undefined;
  let rest: JsonObject | undefined;
  let final = false;
  while (reader.at < reader.end) {
    const tag = reader.tag();
    if (tag === 0x0a) uri = reader.text();
    else if (tag === 0x12) mimeType = reader.text();
    else if (tag === 0x1a) data = reader.text();
    else if (tag === (3 + TWIN) * 8 + 2) data = readString(reader);
    else if (tag === 0x22) data = reader.octets();
    else if (tag === 0x28) offset = reader.int64();
    else if (tag === 0x30) size = reader.int64();
    else if (tag === 0x38) final = reader.varint() !== 0;
    else if (tag === 0x42) begin = readBegin(reader, depth);
    else if (tag === 0x4a) rest = entered(reader, restTable, depth);
    else if (tag >>> 3 < 10) throw malformed("a field has the wrong wire type");
    else reader.skip(tag);
  }
  const said = { ...(uri === undefined ? {} : { uri }), ...(mimeType === undefined ? {} : { mimeType }) };
  const place = { ...(offset === undefined ? {} : { offset }), ...(size === undefined ? {} : { size }) };
  if (begin !== undefined) {
    if (begin.form === "unspecified") throw refused("a content begins and does not say its form");
    state.told = true;
    for (const name of Object.keys(said)) if (Object.hasOwn(begin.head, name)) throw refused(`${name} comes twice`);
    parts.push({ kind: "content", form: begin.form, head: { ...said, ...begin.head }, ...place });
  } else if (!state.told && (data !== undefined || final) && uri !== undefined && (!state.begun || uri !== state.uri)) {
    parts.push({ kind: "content", form: data instanceof Uint8Array ? "blob" : "text", head: said, ...place });
    Object.assign(state, begun(uri, mimeType, offset, size));
  }
  if (data !== undefined && (state.told || data.length > 0)) parts.push({ kind: "chunk", data });
  if (final) {
    state.begun = false;
    if (rest !== undefined || state.told) parts.push({ kind: "rest", value: rest ?? {} });
  }
  return parts;
}

function readBegin(reader: Reader, depth: number): { form: (typeof forms)[number]; head: JsonObject } {
  const outer = reader.enter();
  const from = reader.at;
  let form: (typeof forms)[number] = "unspecified";
  while (reader.at < reader.end) {
    const tag = reader.tag();
    if (tag === 0x08) form = forms[reader.varint()] ?? "unspecified";
    else reader.skip(tag);
  }
  reader.at = from;
  const head = readMessage(reader, beginTable, depth - 3);
  reader.leave(outer);
  return { form, head };
}

/** Writes the members of a result into a field. */
export function writeRest(writer: Writer, number: number, rest: JsonObject, options: EncodeOptions): void {
  writer.varint(number * 8 + 2);
  inner(writer, restTable, rest, options);
}

export function readRest(reader: Reader, depth: number): JsonObject {
  return entered(reader, restTable, depth);
}

function entered(reader: Reader, table: Table, depth: number): JsonObject {
  const outer = reader.enter();
  const value = readMessage(reader, table, depth - 1);
  reader.leave(outer);
  return value;
}

function inner(writer: Writer, table: Table, value: JsonObject, options: EncodeOptions): void {
  const from = writer.open();
  writeMessage(writer, table, value, options);
  writer.close(from);
}

function flag(writer: Writer, number: number): void {
  writer.varint(number * 8);
  writer.varint(1);
}

function count(writer: Writer, number: number, value: number): void {
  writer.varint(number * 8);
  writer.integer(value);
}

/** Writes a string, or its JSON in the twin if UTF-8 cannot hold it. */
function text(writer: Writer, number: number, value: string): void {
  if (!optionalText(writer, number, value)) writeJsonField(writer, (number + TWIN) * 8 + 2, value);
}

function readString(reader: Reader): string {
  const value = readJsonField(reader, 0);
  if (typeof value !== "string") throw refused("a field is not a JSON string");
  return value;
}

/** Returns false, and writes nothing, if the value is not text. */
function optionalText(writer: Writer, number: number, value: unknown): boolean {
  if (typeof value !== "string") return false;
  const { at } = writer;
  writer.varint(number * 8 + 2);
  if (writer.text(value)) return true;
  writer.at = at;
  return false;
}
