import { at, exact, stringAt, textOf } from "./json.js";
import type { Era } from "./raw/types.js";
import { messageText } from "./script.js";

const io = "io.modelcontextprotocol";
const capabilities = `{"logging":{},"prompts":{"listChanged":true,"x-p":null},"resources":{"subscribe":true,"listChanged":true},"tools":{"listChanged":true},"completions":{},"experimental":{"vendor":{"z":1,"a":[]}},"extensions":{"com.example/ext":{"deep":{"er":[null]}}},"x-unknown":{"b":1,"a":2}}`;
const info = `{"name":"raw-server","version":"1","title":"Raw","websiteUrl":"https://example.com","icons":[{"src":"data:,","sizes":["any"]}],"x-info":{"k":null}}`;
const legacy = `"protocolVersion":"2025-11-25","capabilities":${capabilities},"serverInfo":${info},"instructions":"Be kind é\\u2028.","x-result":[{}],"_meta":{"x":{"y":1.5}}`;
/** What a modern raw server says of itself. */
export const discovered = `"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":${capabilities},"instructions":"Be kind é\\u2028.","ttlMs":0,"cacheScope":"public","x-result":[{}],"_meta":{"${io}/serverInfo":${info},"x":{"y":1.5}}`;

/** Answers what a relay asks of a server before any client is there. */
export function handshake(era: Era): {
  /** The params of the client's own `initialize`. */
  readonly initialize: string;
  /** How the server answers it. */
  initialized(id: string): string;
  begin(send: (text: string, call: string) => void): void;
  /** Whether the message was one of these. */
  take(text: string): boolean;
} {
  let answer: (text: string, call: string) => void = () => {};
  const opening = era === "legacy" ? "initialize" : "server/discover";
  let begun = false;
  return {
    initialize: `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{},"context":{}},"roots":{"listChanged":true}},"clientInfo":{"name":"raw","version":"0"}}`,
    initialized: (id) => messageText(id, `"result":{${legacy}}`),
    begin(send) {
      answer = send;
    },
    take(text) {
      const message = exact(text);
      const method = stringAt(message, "method");
      if (method === "notifications/initialized") return true;
      if (begun || method !== opening) return false;
      begun = true;
      const id = textOf(at(message, "id") as ReturnType<typeof exact>);
      answer(messageText(id, `"result":{${era === "legacy" ? legacy : discovered}}`), id);
      return true;
    },
  };
}
