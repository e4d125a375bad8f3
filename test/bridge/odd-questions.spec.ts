import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import type { JsonObject } from "../../src/api/index.js";
import type { SessionMode } from "../../src/bridge/index.js";
import { patience } from "../fixtures/children/index.js";
import { modern, modernHeaders, post, type Rpc } from "../http/requests.js";
import { openBridge } from "./support.js";

const script = fileURLToPath(new URL("fixtures/asks-oddly.mjs", import.meta.url));
const able = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };
const answers: Readonly<Record<string, (params: JsonObject) => JsonObject>> = {
  "elicitation/create": ({ mode, message }) => ({ action: "accept", ...(mode !== "url" && { content: { to: message } }) }),
  "sampling/createMessage": () => ({ role: "assistant", model: "m", content: { type: "text", text: "a" } }),
  "roots/list": () => ({ roots: [{ uri: "file:///a" }] }),
};
const to = (message: string): JsonObject => ({ action: "accept", content: { to: message } });

interface Asking {
  readonly method: string;
  readonly params?: JsonObject;
}

/** One call of a modern client by hand. Each request is one that a proxy could send to the bridge on any connection. */
async function call(url: string, name: string, more: JsonObject = {}, signal?: AbortSignal): Promise<JsonObject> {
  const _meta = { "io.modelcontextprotocol/clientCapabilities": able };
  const request = modern(1, "tools/call", { name, arguments: {}, ...more, _meta });
  const text = await (await post(url, request, modernHeaders(request), signal)).text();
  // The answer is a body of its own, or the last event of a stream.
  const { result, error } = JSON.parse(text.slice(text.lastIndexOf('{"jsonrpc"')).trim()) as Rpc;
  if (result === undefined) throw new Error(JSON.stringify(error));
  return result;
}

/** Calls until there is a result. `each`: how many questions of one turn are answered. Gives the questions by turn. */
async function drive(url: string, name: string, each = 9): Promise<{ turns: string[][]; answers: unknown; questions: Asking[] }> {
  const turns: string[][] = [];
  const questions: Asking[] = [];
  let result = await call(url, name);
  while (result["resultType"] === "input_required") {
    const asked = Object.entries(result["inputRequests"] as Record<string, Asking>);
    turns.push(asked.map(([, { method, params }]) => String(params?.["message"] ?? method)));
    questions.push(...asked.map(([, question]) => question));
    const given = asked.slice(0, each).map(([key, { method, params }]) => [key, answers[method]?.(params ?? {})]);
    result = await call(url, name, { requestState: result["requestState"], inputResponses: Object.fromEntries(given) });
  }
  return { turns, answers: (result["structuredContent"] as JsonObject)["answers"], questions };
}

const modes: readonly SessionMode[] = ["auto", "shared", "own"];

describe.each(modes)("a modern client of a legacy server that asks, sessions %j", (sessions) => {
  it("answers each question, however the server asks them", { timeout: 60_000 }, async () => {
    const log = join(mkdtempSync(join(tmpdir(), "anywire-odd-")), "late");
    await using made = await openBridge(["http"], { to: { command: process.execPath, args: [script, log] }, sessions });
    const url = made.at("http").address;
    const both = [to("one"), to("two")];
    expect(await drive(url, "in-a-row")).toMatchObject({ turns: [["one"], ["two"]], answers: both });

    const rest = ["sampling/createMessage", "roots/list"];
    const all = [...both, answers["sampling/createMessage"]?.({}), answers["roots/list"]?.({})];
    const together = await drive(url, "at-once");
    expect(together).toMatchObject({ turns: [["one", "two", ...rest]], answers: all });
    expect(together.questions[2]?.params).toMatchObject({ tools: [{ name: "t" }], toolChoice: { mode: "auto" } });
    expect((await drive(url, "at-once", 1)).turns).toEqual([["one", "two", ...rest], ["two", ...rest], rest, rest.slice(1)]);

    expect((await drive(url, "while-open")).answers).toEqual(both);
    expect(await drive(url, "by-url")).toMatchObject({
      turns: [["visit"], ["visit"]],
      answers: [{ action: "accept" }, { action: "accept" }],
    });
    expect(await drive(url, "withdrawn")).toMatchObject({ turns: [["gone"]], answers: ["withdrawn"] });

    // The call is given up, and the server asks about it all the same. That is no question of the next call.
    const leaving = new AbortController();
    const left = call(url, "when-cancelled", {}, leaving.signal).catch(() => "left");
    await new Promise((resolve) => setTimeout(resolve, 300));
    leaving.abort();
    expect(await left).toBe("left");
    if (sessions !== "own") await vi.waitFor(() => expect(existsSync(log) && readFileSync(log, "utf8")).toContain('"error"'), patience);
    if (sessions !== "shared") expect((await drive(url, "in-a-row")).turns).toEqual([["one"], ["two"]]);
  });
});
