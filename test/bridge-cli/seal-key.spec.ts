import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createServer, elicit, type JsonObject, serve } from "../../src/api/index.js";
import { anywire, everything, scratch, start } from "../cli/support.js";
import { modern, postModern, rpc } from "../http/requests.js";
import { startBridge } from "./support.js";

const able = { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } };
const ask = (more: JsonObject = {}): JsonObject => modern(1, "tools/call", { name: "ask", arguments: {}, ...more, _meta: able });

it("bridges with the same --seal-key take each other's requestState; one with another does not", { timeout: 60_000 }, async () => {
  const server = createServer({ name: "asking", version: "1" }).tool("ask", {}, async function* () {
    const { content } = yield* elicit({ message: "Who?", requestedSchema: { type: "object", properties: {} } });
    return String(content?.["name"]);
  });
  await using behind = await serve(server, "http://127.0.0.1:0", { drainMs: 0 });
  const [shared, other] = ["shared", "other"].map((name) => join(scratch(), name)) as [string, string];
  for (const file of [shared, other]) writeFileSync(file, randomBytes(48));
  const bridged = async (key: string): Promise<string> =>
    (await startBridge(["--listen", "http://127.0.0.1:0/mcp", "--seal-key", key, "--to", behind.address])).at("Streamable HTTP");
  const [first, second, stranger] = await Promise.all([bridged(shared), bridged(shared), bridged(other)]);
  const { result } = await rpc(postModern(first as string, ask()));
  const [question] = Object.keys(result?.["inputRequests"] as JsonObject);
  const inputResponses = { [question as string]: { action: "accept", content: { name: "Ada" } } };
  const retry = ask({ requestState: result?.["requestState"], inputResponses });
  expect(await rpc(postModern(stranger as string, retry))).toMatchObject({ error: { code: -32602 } });
  expect(await rpc(postModern(second as string, retry))).toMatchObject({ result: { content: [{ text: "Ada" }] } });
});

it("a key that anybody could guess is a mistake", async () => {
  const short = join(scratch(), "short");
  writeFileSync(short, "short");
  const { code, stderr } = await start(process.execPath, [anywire, "bridge", "--seal-key", short, ...everything]).ended;
  expect(code).toBe(2);
  expect(stderr).toContain("at least 32");
});

it.runIf(process.platform !== "win32")("a key that every user of the machine may read is warned of", async () => {
  const key = join(scratch(), "open");
  writeFileSync(key, randomBytes(48), { mode: 0o644 });
  const { code, stderr } = await start(process.execPath, [anywire, "bridge", "--seal-key", key, "--to", "http://127.0.0.1:1/mcp"]).ended;
  expect(code).not.toBe(0);
  expect(stderr).toContain("use chmod 600");
});
