import { createServer as createHttp } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { connect, createServer, type JsonObject, serve } from "../../src/api/index.js";

it("32: a schema with references to URLs fetches nothing, on either side", async () => {
  const asked: string[] = [];
  const http = createHttp((request, response) => {
    asked.push(request.url ?? "");
    response.setHeader("content-type", "application/json");
    response.end('{"type":"object"}');
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void http.close());
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const schemas: readonly JsonObject[] = [
    { $ref: `${url}/ref` },
    { type: "object", properties: { a: { $ref: `${url}/deep#/x` } } },
    { $id: `${url}/id`, type: "object", properties: { a: { $ref: "other" } } },
    { $schema: `${url}/dialect`, type: "object" },
    { type: "object", properties: { a: { $dynamicRef: `${url}/dynamic` } } },
  ];
  const server = createServer({ name: "refers", version: "1" });
  for (const [index, input] of schemas.entries())
    server.tool(`t${index}`, { input, outputSchema: input }, () => ({ structuredContent: {} }));
  await using listener = await serve(server, "memory:row-32");
  await using client = await connect(listener.address);
  let tools = 0;
  for await (const { name } of client.tools()) {
    tools++;
    const outcome = await client.callTool(name, { a: 1 }).catch((error: Error) => error.message);
    // What cannot be resolved cannot be checked, and is not taken as valid.
    expect(outcome).toEqual(expect.stringMatching(/JSON Schema/));
  }
  expect(tools).toBe(schemas.length);
  expect(asked).toEqual([]);
});
