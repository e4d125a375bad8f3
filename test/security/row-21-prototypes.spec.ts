import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, createServer, elicit, type JsonObject, type McpClient, type Service, serve } from "../../src/api/index.js";
import { nobodyLeft } from "../fixtures/processes.js";

const hostile = JSON.parse(
  `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}},"prototype":{"polluted":3},"toString":4,"hasOwnProperty":5,
    "a":{"__proto__":{"polluted":6},"b":[{"__proto__":null},{"constructor":null}]},"__defineGetter__":7,"valueOf":{"__proto__":[]}}`,
) as JsonObject;
const shown = (value: unknown): { content: []; structuredContent: unknown } => ({ content: [], structuredContent: value });
/** As text, because an equality may look at prototypes where it should not. */
const text = (value: unknown): string => JSON.stringify(value);

function service(): Service {
  return createServer({ name: "secured", version: "1" })
    .tool("echo", {}, (args) => shown(args))
    .tool("checked", { input: { type: "object", properties: { a: { type: "object" } } } }, (args) => shown(args))
    .tool("ask", {}, async function* () {
      return shown(yield* elicit({ message: "Who?" }));
    })
    .tool("process", {}, () => shown({ polluted: "polluted" in {} }))
    .method("com.example/echo", (params) => ({ params }));
}

const secured = fileURLToPath(new URL("../fixtures/secured.mjs", import.meta.url));
const wires = ["memory", "stdio"] as const;
const eras = ["legacy", "modern"] as const;

for (const wire of wires) {
  for (const era of eras) {
    describe(`21. __proto__ and constructor are data: ${wire}, ${era}`, () => {
      const address = wire === "memory" ? `memory:prototypes-${era}` : { command: process.execPath, args: [secured] };
      let client: McpClient;
      let close = async (): Promise<void> => {};
      beforeAll(async () => {
        if (typeof address === "string") {
          const listener = await serve(service(), address);
          close = () => listener.close();
        }
        client = await connect(address, { era, elicit: () => ({ action: "accept", content: hostile }) });
      });
      afterAll(async () => {
        await client.close();
        await close();
        await nobodyLeft();
      });
      const unpolluted = async (): Promise<void> => {
        expect("polluted" in {}).toBe(false);
        expect((await client.callTool("process")).structuredContent).toMatchObject({ polluted: false });
      };

      test("in arguments, checked or not", async () => {
        for (const tool of ["echo", "checked"]) {
          const { structuredContent } = await client.callTool(tool, hostile);
          expect(text(structuredContent)).toBe(text(hostile));
          expect(Object.getPrototypeOf(structuredContent)).toBe(Object.prototype);
        }
        await unpolluted();
      });

      test("in what a user answered", async () => {
        const { structuredContent } = await client.callTool("ask");
        expect(text((structuredContent as JsonObject)["content"])).toBe(text(hostile));
        await unpolluted();
      });

      test("in the params and _meta of any method", async () => {
        const { params } = await client.call("com.example/echo", { ...hostile, _meta: { ...hostile, "com.example/x": hostile } });
        const { _meta, ...rest } = params as { _meta: JsonObject };
        expect(text(rest)).toBe(text(hostile));
        expect(text(_meta)).toBe(text({ ...hostile, "com.example/x": hostile }));
        await unpolluted();
      });

      test("as the names of tools, prompts and methods: there are none of these", async () => {
        for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
          await expect(client.callTool(name)).rejects.toMatchObject({ code: "invalid-params" });
          await expect(client.call(name)).rejects.toMatchObject({ code: "unknown-method" });
        }
        await unpolluted();
      });
    });
  }
}
