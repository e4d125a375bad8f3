import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { at, exact, stringAt } from "../json.js";
import { body, events } from "./events.js";
import type { Era, RawClient, Take } from "./types.js";

const VERSION = "io.modelcontextprotocol/protocolVersion";
const named: Readonly<Record<string, string>> = { "tools/call": "name", "prompts/get": "name", "resources/read": "uri" };

/** What a modern request says of itself in its headers. */
function mirrored(text: string): Record<string, string> {
  const message = exact(text);
  const method = stringAt(message, "method") ?? "";
  const name = stringAt(message, "params", named[method] ?? "");
  const version = stringAt(message, "params", "_meta", VERSION);
  return {
    ...(version === undefined ? undefined : { "mcp-protocol-version": version }),
    "mcp-method": method,
    ...(name === undefined ? undefined : { "mcp-name": encoded(name) }),
  };
}

export function encoded(name: string): string {
  const plain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(name) && !name.startsWith("=?");
  return plain ? name : `=?base64?${Buffer.from(name).toString("base64")}?=`;
}

/** Streamable HTTP by `node:http`: a POST for each message, and in a legacy session a GET for what belongs to no call. */
export function httpClient(address: string, era: Era, take: Take): RawClient {
  const agent = new Agent({ keepAlive: true });
  const session: Record<string, string> = {};
  const call = (
    method: string,
    headers: Record<string, string>,
    text: string | undefined,
    then: (answer: IncomingMessage) => void,
  ): void => {
    const sent = request(address, { agent, method, headers: { ...headers, ...session } }, then);
    sent.on("error", () => {});
    sent.end(text);
  };
  const answers = new Set<IncomingMessage>();
  const read = (answer: IncomingMessage): void => {
    answers.add(answer);
    answer.once("close", () => answers.delete(answer));
    if (/event-stream/.test(typeOf(answer.headers))) events(answer, take);
    else body(answer, take);
  };
  // Messages leave one after another: two POSTs on two connections may overtake each other.
  let last = Promise.resolve();
  return {
    send(text) {
      const headers = {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(era === "modern" && mirrored(text)),
      };
      const answerWaits = at(exact(text), "id") !== undefined && at(exact(text), "method") !== undefined;
      last = last.then(
        () =>
          new Promise<void>((resolve) => {
            if (answerWaits) resolve();
            call("POST", headers, text, (answer) => {
              const id = answer.headers["mcp-session-id"];
              if (typeof id === "string") Object.assign(session, { "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" });
              read(answer);
              if (stringAt(exact(text), "method") === "notifications/initialized")
                call("GET", { accept: "text/event-stream" }, undefined, (stream) => {
                  read(stream);
                  resolve();
                });
              else resolve();
            });
          }),
      );
    },
    read(on) {
      for (const answer of answers)
        if (on) answer.resume();
        else answer.pause();
    },
    async close() {
      agent.destroy();
    },
  };
}

function typeOf(headers: IncomingHttpHeaders): string {
  return headers["content-type"] ?? "";
}
