import { isDeepStrictEqual } from "node:util";
import { fromBinary } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { jsonText } from "../../src/core/index.js";
import { type Catalogue, type ConvertedTool, catalogueWriter, schemaCodec } from "../../src/schema/index.js";
import { type OddSchema, odd } from "./odd-schemas.js";
import { buf, scratch, writeModule } from "./support.js";

const validator = createValidator();
const writer = catalogueWriter({ package: "test.odd.v1", formats: false });

/** Every row is a tool of one catalogue, so that buf is started once. */
const results = odd.map((row) => {
  try {
    return { row, tool: writer.add({ name: row.name, inputSchema: row.schema }) };
  } catch (error) {
    return { row, error };
  }
});
const catalogue: Catalogue = writer.finish();

/** The values as anyone else sees them: with doubles. */
const foreign = <T>(value: T): T => JSON.parse(jsonText(value)) as T;

/** A peer's own ajv, as it comes, on what JSON.parse makes of the schema. */
function ajvOf(schema: unknown): (value: unknown) => boolean {
  const plain = foreign(schema) as { $schema?: string };
  const options = { strict: false, validateFormats: false, validateSchema: false, ownProperties: true, logger: false } as const;
  const ajv = plain.$schema?.includes("draft-07") === true ? new Ajv(options) : new Ajv2020(options);
  const validate = ajv.compile(plain);
  return (value) => validate(foreign(value)) as boolean;
}

/** What a peer finds that has only the message. */
function byMessage(tool: ConvertedTool, value: unknown): string {
  const codec = schemaCodec(tool.input);
  try {
    const result = validator.validate(codec.message, fromBinary(codec.message, codec.encode(value)));
    return result.kind === "valid" ? "valid" : `${result.kind}: ${result.error.message}`;
  } catch (error) {
    expect(error).toMatchObject({ name: "Fault" });
    return (error as Error).message;
  }
}

describe("an odd schema", () => {
  it.each(results.map((result) => [result.row.name, result] as const))("%s", async (_, { row, tool, error }) => {
    const { schema, good = [], bad = [], fault, unusable }: OddSchema = row;
    if (fault !== undefined || tool === undefined) {
      expect(error).toMatchObject({ name: "Fault", rpcCode: -33000, message: expect.stringMatching(fault ?? "^$") });
      expect((error as { data: unknown }).data).toMatchObject({ reason: "schema" });
      return;
    }
    const codec = schemaCodec(tool.input);
    expect(tool.text()).toContain("message ");
    if (unusable !== undefined) {
      await expect(codec.check({})).rejects.toMatchObject({ name: "Fault", rpcCode: -33000, message: expect.stringMatching(unusable) });
      return;
    }
    const ajv = row.ajv === undefined ? ajvOf(schema) : undefined;
    for (const value of good) {
      expect([value, ajv?.(value) ?? true, await codec.check(value), byMessage(tool, value)]).toEqual([value, true, { value }, "valid"]);
      const back = codec.decode(codec.encode(value));
      expect([value, isDeepStrictEqual(back, value) || jsonText(back)]).toEqual([value, true]);
    }
    for (const value of bad) {
      expect([value, ajv?.(value) ?? false, await codec.check(value)]).toEqual([value, false, { problem: expect.any(String) }]);
      if (tool.input.residual.length === 0) expect([value, byMessage(tool, value)]).not.toEqual([value, "valid"]);
      expect(byMessage(tool, value)).not.toMatch(/^(?:error|invalid): .*(?:compil|runtime)/);
    }
  });

  it("becomes text that buf builds and lints", () => {
    const folder = scratch();
    writeModule(catalogue, folder);
    expect(buf("build", folder)).toEqual({ status: 0, text: "" });
    expect(buf("lint", folder)).toEqual({ status: 0, text: "" });
  }, 60_000);
});
