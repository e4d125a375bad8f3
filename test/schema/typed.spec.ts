import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { create, createFileRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema, file_google_protobuf_struct } from "@bufbuild/protobuf/wkt";
import { describe, expect, it, onTestFinished } from "vitest";
import { catalogueWriter, schemaStore, type ToolSchemas, toolTyper } from "../../src/schema/index.js";
import { searchTool } from "./registries.js";
import { fixture, fixtures } from "./support.js";

describe("a tool that is typed on the fly", () => {
  it("is converted once for everybody who sees the same", async () => {
    const typer = toolTyper({ server: "acme" });
    const first = await typer.type(searchTool);
    expect(await typer.type(structuredClone(searchTool))).toBe(first);
    expect(typer.find(first.input.typeName)).toBe(first);
    expect(typer.find(first.output?.typeName ?? "")).toBe(first);
    expect(first.input.typeName).toMatch(/^tools\.acme\.h[0-9a-f]{16}\.WebSearchRequest$/);
    // Another process comes to the same.
    const other = await toolTyper({ server: "acme" }).type(structuredClone(searchTool));
    expect([other.input.typeName, Buffer.from(other.descriptors)]).toEqual([first.input.typeName, Buffer.from(first.descriptors)]);
  });

  it("is readable by whoever has the descriptors alone, and carries the values of its schema", async () => {
    const typer = toolTyper();
    const store = schemaStore();
    for (const name of fixtures)
      for (const tool of fixture(name)) {
        const typed = await typer.type(tool);
        expect(typed.fault).toBeUndefined();
        expect(store.inline(typed.descriptors, { input: typed.input.typeName }).input.typeName).toBe(typed.input.typeName);
      }
    const { descriptors, input } = await typer.type(searchTool);
    // protobuf-es alone, with the one file that every reader has.
    const files = [...fromBinary(FileDescriptorSetSchema, descriptors).file];
    for (const file of files) file.dependency = file.dependency.filter((each) => each.startsWith("google/"));
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: [file_google_protobuf_struct.proto, ...files] }));
    const message = registry.getMessage(input.typeName);
    if (message === undefined) throw new Error("no message");
    const bytes = toBinary(message, create(message, { query: "cats" } as never));
    expect(input.codec.decode(bytes)).toEqual({ query: "cats" });
    expect(fromBinary(message, input.codec.encode({ query: "dogs" }))).toMatchObject({ query: "dogs" });
    expect(await input.codec.check({})).toMatchObject({ problem: expect.stringContaining("query") });
  });

  it("has another type when it changes, so that old bytes are never taken for new ones", async () => {
    const typer = toolTyper();
    const properties = { b: { type: "string" } };
    const before = await typer.type({ name: "t", inputSchema: { type: "object", properties } });
    const after = await typer.type({ name: "t", inputSchema: { type: "object", properties: { a: { type: "string" }, ...properties } } });
    expect(after.input.typeName).not.toBe(before.input.typeName);
    // By their numbers alone the bytes would be those of another property.
    expect(after.input.codec.decode(before.input.codec.encode({ b: "x" }))).toEqual({ a: "x" });
    expect([typer.find(before.input.typeName), typer.find(after.input.typeName)]).toEqual([before, after]);
  });

  it("keeps its names and numbers with a lock file", async () => {
    const writer = catalogueWriter({ package: "acme.tools.v1" });
    writer.add({ name: "t", inputSchema: { type: "object", properties: { b: { type: "string" } } } });
    const typer = toolTyper({ lock: writer.finish().lock });
    const typed = await typer.type({
      name: "t",
      inputSchema: { type: "object", properties: { a: { type: "string" }, b: { type: "string" } } },
    });
    expect(typed.input.typeName).toBe("acme.tools.v1.TRequest");
    expect([...typed.input.codec.encode({ b: "x" })]).toEqual([10, 1, 120]);
    expect((await typer.type(searchTool)).input.typeName).toMatch(/\.h[0-9a-f]{16}\./);
  });

  it("is kept as long as there is room", async () => {
    const tool = (index: number): ToolSchemas => ({ name: `t${index}`, inputSchema: { type: "object" } });
    const typer = toolTyper({ tools: 10 });
    const names = [];
    for (let index = 0; index < 30; index++) names.push((await typer.type(tool(index))).input.typeName);
    expect(names.filter((name) => typer.find(name) !== undefined)).toEqual(names.slice(20));
    // What was asked for last stays.
    typer.find(names[20] as string);
    await typer.type(tool(30));
    expect([typer.find(names[20] as string)?.name, typer.find(names[21] as string)]).toEqual(["t20", undefined]);
    const small = toolTyper({ bytes: 3_000 });
    const large = await small.type({ name: "large", description: "x".repeat(5_000), inputSchema: { type: "object" } });
    expect([large.name, small.find(large.input.typeName)]).toEqual(["large", undefined]);
  });

  it("32, 33: takes nobody else down if its schema cannot be converted, and fetches nothing", async () => {
    let asked = 0;
    const http = createServer((_, response) => {
      asked++;
      response.end("{}");
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void http.close());
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    const bomb: Record<string, object> = { l0: { type: "object" } };
    for (let level = 1; level < 40; level++)
      bomb[`l${level}`] = { allOf: [{ $ref: `#/$defs/l${level - 1}` }, { $ref: `#/$defs/l${level - 1}` }] };
    const typer = toolTyper();
    let turns = 0;
    const beat = setInterval(() => turns++, 1);
    onTestFinished(() => clearInterval(beat));
    for (const [name, inputSchema] of Object.entries({
      remote: { $ref: `${url}/schema` },
      bomb: { $ref: "#/$defs/l39", $defs: bomb },
      none: 5,
      list: [],
    })) {
      const typed = await typer.type({ name, inputSchema });
      expect([name, typed.fault?.message]).toEqual([name, expect.stringMatching(/cannot be converted/)]);
      expect(typed.input.codec.decode(typed.input.codec.encode({ any: [1, null] }))).toEqual({ any: [1, null] });
    }
    expect(asked).toBe(0);
    // Others have their turn between two conversions.
    const since = turns;
    for (let index = 0; index < 200; index++) await typer.type({ ...searchTool, name: `search_${index}` });
    expect(turns).toBeGreaterThan(since);
  });
});
