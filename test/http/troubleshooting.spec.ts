import { resolve } from "node:path";
import { expect, it } from "vitest";
import { connect } from "../../src/api/index.js";
import { begin, initialize, open, post } from "./requests.js";

const sse = { accept: "text/event-stream" };

it("no events come: what a GET is told", async () => {
  await using at = await open();
  const missing = await fetch(at.url, { headers: sse });
  expect(missing.status).toBe(400);
  expect(await missing.text()).toContain("the header Mcp-Session-Id is missing");
  const session = await begin(at.url);
  expect((await fetch(at.url, { headers: { ...session, accept: "*/plain" } })).status).toBe(406);
  const stream = await fetch(at.url, { headers: { ...session, ...sse } });
  expect([stream.status, stream.headers.get("content-type"), stream.headers.get("x-accel-buffering")]).toEqual([
    200,
    "text/event-stream",
    "no",
  ]);
  expect(stream.headers.get("cache-control")).toContain("no-transform");
  expect((await fetch(at.url, { headers: { ...session, ...sse } })).status).toBe(409);
  await stream.body?.cancel();
  for (const options of [{ stateless: true }, { jsonOnly: true }, { eras: ["modern" as const] }]) {
    await using none = await open(options);
    expect((await fetch(none.url, { headers: sse })).status).toBe(405);
  }
});

it("no events come: a quiet stream shows that it is alive", async () => {
  await using at = await open({ keepAliveMs: 10 });
  const stream = await fetch(at.url, { headers: { ...(await begin(at.url)), ...sse } });
  const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toContain(": alive");
  await reader.cancel();
});

it("the session does not last: what a page can see, and what a client is told", async () => {
  await using at = await open({ auth: { verify: (token) => ({ id: token }) } });
  const page = { origin: "http://localhost:5173", authorization: "Bearer a" };
  const begun = await post(at.url, initialize(), page);
  await begun.text();
  expect(begun.headers.get("access-control-expose-headers")).toContain("Mcp-Session-Id");
  const session = { ...page, "mcp-session-id": begun.headers.get("mcp-session-id") as string };
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  expect((await post(at.url, ping, page)).status).toBe(400);
  expect((await post(at.url, ping, { ...session, authorization: "Bearer b" })).status).toBe(404);
  expect((await post(at.url, ping, session)).status).toBe(200);
  expect((await fetch(at.url, { method: "DELETE", headers: session })).status).toBe(204);
  expect((await post(at.url, ping, session)).status).toBe(404);
});

it("messages on stdio are garbled: what is not a message is dropped and told", async () => {
  const faults: string[] = [];
  const api = resolve(import.meta.dirname, "../../dist/api/index.js");
  const program = `
    import { createServer, serve } from ${JSON.stringify(api)};
    console.log("a banner");
    process.stdout.write("debugging by print\\n");
    await serve(createServer({ name: "x", version: "1" }).tool("echo", {}, () => { console.log("inside"); return "ok"; }), "stdio:");
  `;
  const client = await connect(
    { command: process.execPath, args: ["--input-type=module", "-e", program] },
    { onFault: ({ code }) => faults.push(code), onStderr: () => {} },
  );
  expect((await client.callTool("echo")).content).toEqual([{ type: "text", text: "ok" }]);
  await client.close();
  // The two lines that were printed before the server listened, and none after.
  expect(faults).toEqual(["parse", "parse"]);
});

it("the browser says CORS: the preflight of a page here and of one elsewhere", async () => {
  await using at = await open({ allowedOrigins: ["https://app.example.com"] });
  const asked = { "access-control-request-method": "POST", "access-control-request-headers": "content-type, mcp-session-id" };
  const preflight = (origin: string) => fetch(at.url, { method: "OPTIONS", headers: { ...asked, origin } });
  expect((await preflight("https://other.example.com")).status).toBe(403);
  const allowed = await preflight("https://app.example.com");
  expect([allowed.status, allowed.headers.get("access-control-allow-origin")]).toEqual([204, "https://app.example.com"]);
  expect(allowed.headers.get("vary")).toBe("Origin");
  expect(allowed.headers.get("access-control-allow-headers")?.toLowerCase()).toContain("mcp-session-id");
});
