import { readFileSync } from "node:fs";
import { join } from "node:path";
import { equals, fromBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { file_buf_validate_validate } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { describe, expect, it } from "vitest";
import { buf, catalogueOf, fixture, fixtures, root, scratch, writeModule } from "./support.js";

describe("a catalogue as a buf module", () => {
  it.each(fixtures)("builds and lints offline, and says what the descriptors say: %s", (name) => {
    const catalogue = catalogueOf(fixture(name));
    const folder = scratch();
    writeModule(catalogue, folder);
    const set = join(folder, "set.binpb");
    expect(buf("build", folder, "-o", set)).toEqual({ status: 0, text: "" });
    expect(buf("lint", folder)).toEqual({ status: 0, text: "" });
    const built = new Map(fromBinary(FileDescriptorSetSchema, readFileSync(set)).file.map((file) => [file.name, file]));
    for (const { path, file } of catalogue.tools) {
      const compiled = built.get(path);
      if (compiled === undefined) throw new Error(`${path} was not built`);
      // Where the compiler found the text is its own matter.
      expect([
        path,
        equals(FileDescriptorProtoSchema, { ...compiled, sourceCodeInfo: undefined }, { ...file, sourceCodeInfo: undefined }),
      ]).toEqual([path, true]);
    }
  });

  it("has the comments of the schema", () => {
    const [tool] = catalogueOf([
      {
        name: "search",
        description: "Finds pages.",
        inputSchema: { type: "object", properties: { q: { type: "string", description: "What to\nlook for.", default: "x" } } },
      },
    ]).tools;
    expect(tool?.text()).toContain(
      '// Finds pages.\nmessage SearchRequest {\n  // What to\n  // look for.\n  // Default: "x"\n  optional string q = 1;',
    );
  });

  it("brings the rules that protovalidate has", () => {
    const set = join(scratch(), "set.binpb");
    expect(buf("build", join(root, "proto"), "-o", set)).toEqual({ status: 0, text: "" });
    const checkedIn = fromBinary(FileDescriptorSetSchema, readFileSync(set)).file.find(
      ({ name }) => name === "buf/validate/validate.proto",
    );
    const plain = (file: FileDescriptorProto): FileDescriptorProto =>
      ({ ...file, sourceCodeInfo: undefined, dependency: [...file.dependency].sort() }) as FileDescriptorProto;
    if (checkedIn === undefined) throw new Error("no rules");
    expect(equals(FileDescriptorProtoSchema, plain(checkedIn), plain(file_buf_validate_validate.proto))).toBe(true);
  });
});

describe("field numbers", () => {
  const search = (properties: object, required: readonly string[] = []): Parameters<typeof catalogueOf>[0] => [
    { name: "search", inputSchema: { type: "object", properties, required, additionalProperties: false } },
    { name: "other", inputSchema: { type: "object" } },
  ];
  const text = { type: "string" };

  it("stay with their properties, and are reserved when these go, so that buf finds nothing broken", () => {
    const before = catalogueOf(search({ a: text, b: text, c: text }));
    const [old, now] = [scratch(), scratch()];
    writeModule(before, old);
    const grown = catalogueOf(search({ zero: text, c: text, a: text, b: text }), before.lock);
    writeModule(grown, now);
    expect(grown.tools[0]?.text()).toMatch(/zero = 4;\n {2}optional string c = 3;\n {2}optional string a = 1;\n {2}optional string b = 2;/);
    expect(buf("breaking", now, "--against", old)).toEqual({ status: 0, text: "" });
    const smaller = catalogueOf(search({ a: text }), grown.lock);
    expect(smaller.tools[0]?.text()).toContain('reserved 2, 3, 4;\n  reserved "b", "c", "zero";');
    writeModule(smaller, now);
    expect(buf("breaking", now, "--against", old)).toEqual({ status: 0, text: "" });
    // What comes back does so under a number that was never used.
    const again = catalogueOf(search({ b: { type: "integer" }, a: text }), smaller.lock);
    expect(again.tools[0]?.text()).toMatch(/int64 b2 = 5/);
    writeModule(again, now);
    expect(buf("build", now)).toEqual({ status: 0, text: "" });
  });

  it("are new where the type is another", () => {
    const before = catalogueOf(search({ a: text, b: text }));
    const after = catalogueOf(search({ a: { type: "integer" }, b: text }), before.lock);
    expect(after.tools[0]?.text()).toMatch(/reserved 1;\n {2}optional int64 a = 3;\n {2}optional string b = 2;/);
  });
});
