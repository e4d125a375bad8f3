import { request } from "node:http";
import type { JsonObject } from "../../src/api/index.js";
import { json, modernHeaders } from "../http/requests.js";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
  readonly body: { readonly result?: JsonObject; readonly error?: { readonly code: number; readonly data?: JsonObject } };
}

/** POSTs from an address of this machine. Every 127.x.y.z is one. */
export function postFrom(localAddress: string, url: string, body: JsonObject, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", localAddress, agent: false, headers: { ...json, ...headers } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          body: text.startsWith("{") ? (JSON.parse(text) as Answer["body"]) : {},
        }),
      );
    });
    sent.on("error", reject);
    sent.end(JSON.stringify(body));
  });
}

/** The same for a modern request, with the headers that mirror it. */
export function callFrom(localAddress: string, url: string, body: JsonObject, headers: Record<string, string> = {}): Promise<Answer> {
  return postFrom(localAddress, url, body, { ...modernHeaders(body), ...headers });
}
