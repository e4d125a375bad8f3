import { create, createFileRegistry, type DescField, type DescMessage, fromBinary, type Registry } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { file_mcp_v1_mcp } from "../../src/codec/gen/mcp/v1/mcp_pb.js";
import { mcpv1Messages } from "../../src/codec/mcpv1/dialect.js";
import { OTHERS_NUMBER } from "../../src/codec/mcpv1/fields.js";
import type { Field, Kind, MessageSpec } from "../../src/codec/protobuf/index.js";
import { buf } from "./buf.js";

const described = new Map(file_mcp_v1_mcp.messages.map((message) => [message.name, message]));
const base: Registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, buf("build", "test/fixtures/mcp/base", "-o", "-")));

/** Messages that are read and written by hand: envelopes, parts, and values. */
const byHand: readonly string[] = [
  "Metadata",
  "ProgressToken",
  "Cursor",
  "StreamEnd",
  "PageEnd",
  "ExperimentalCapabilities",
  "ListToolsResponse",
  "ListResourcesResponse",
  "ListResourceTemplatesResponse",
  "ListPromptsResponse",
  "ReadResourceChunkedResponse",
  "SessionRequest",
  "SessionResponse",
  "GenericMessage",
];

/** Messages of an answer that may be a notification instead. */
const noted: readonly string[] = [
  "InitializeResponse",
  "CallToolResponse",
  "CallToolWithProgressResponse",
  "ReadResourceResponse",
  "WatchResourcesResponse",
  "GetPromptResponse",
  "StreamPromptCompletionResponse",
  "CompleteResponse",
];

const types: Partial<Record<Kind, string>> = {
  string: "string",
  bool: "bool",
  int32: "int32",
  int64: "int64",
  double: "double",
  octets: "bytes",
  time: "google.protobuf.Timestamp",
  id: "string",
  constant: "string",
  struct: "google.protobuf.Struct",
  value: "google.protobuf.Value",
  any: "google.protobuf.Any",
  strings: "repeated string",
  map: "map<string, string>",
};

const scalars = new Map([
  [1, "double"],
  [3, "int64"],
  [5, "int32"],
  [8, "bool"],
  [9, "string"],
  [12, "bytes"],
]);

function typeOf(field: DescField): string {
  switch (field.fieldKind) {
    case "scalar":
      return scalars.get(field.scalar) ?? "?";
    case "enum":
      return field.enum.typeName;
    case "message":
      return field.message.typeName;
    case "list":
      return `repeated ${field.listKind === "scalar" ? scalars.get(field.scalar) : field.listKind === "enum" ? field.enum.typeName : field.message.typeName}`;
    case "map":
      return `map<string, ${field.mapKind === "scalar" ? scalars.get(field.scalar) : "message"}>`;
  }
}

function expected({ kind, of }: Field): string {
  return kind === "messages" ? `repeated mcp.v1.${of}` : (types[kind] ?? `mcp.v1.${of}`);
}

/** Every field that the table gives a message, with its type. */
function fieldsOf(message: MessageSpec): Map<number, string> {
  const found = new Map([[OTHERS_NUMBER, "other_members bytes"]]);
  for (const field of [...message.fields, ...(message.variants ?? [])]) {
    found.set(field.number, `${field.name} ${expected(field)}`);
    if (field.twin !== undefined) found.set(field.twin, `${field.name}_json bytes`);
    if (field.several !== undefined) found.set(field.several, `roles repeated mcp.v1.${field.of}`);
    if (field.flag !== undefined) found.set(field.flag, "numeric_id bool");
  }
  if (message.rest !== undefined) found.set(message.rest, "extra map<string, string>");
  if (message.name === "StreamToolCallsRequest") found.set(1, "request_id string");
  if (message.name === "ContentBegin") found.set(1, "form mcp.v1.ContentForm");
  if (noted.includes(message.name)) found.set(80, "notification mcp.v1.GenericMessage");
  return found;
}

const sorted = (map: Map<number, string>): [number, string][] => [...map].sort(([a], [b]) => a - b);

describe("the table", () => {
  it("has every message and every field of the proto, and no other", () => {
    expect([...mcpv1Messages.map(({ name }) => name), ...byHand].sort()).toEqual([...described.keys()].sort());
    for (const message of mcpv1Messages) {
      const { fields } = described.get(message.name) as DescMessage;
      expect(sorted(new Map(fields.map((field) => [field.number, `${field.name} ${typeOf(field)}`]))), message.name).toEqual(
        sorted(fieldsOf(message)),
      );
    }
  });

  it("tells what the base has from what was added", () => {
    for (const message of mcpv1Messages) {
      const known = base.getMessage(`mcp.v1.${message.name}`);
      for (const field of [...message.fields, ...(message.variants ?? [])]) {
        const inBase = known?.fields.some(({ number }) => number === field.number) === true;
        expect(inBase, `${message.name}.${field.name}`).toBe(field.added !== true);
      }
    }
  });

  it("knows the presence of everything that is not repeated", () => {
    for (const message of mcpv1Messages) {
      for (const field of (described.get(message.name) as DescMessage).fields) {
        if (field.fieldKind === "list" || field.fieldKind === "map") continue;
        expect(field.presence, `${message.name}.${field.name}`).not.toBe(FeatureSet_FieldPresence.IMPLICIT);
      }
    }
    expect(create(described.get("CallToolResponse") as DescMessage)).not.toHaveProperty("isError", false);
  });
});
