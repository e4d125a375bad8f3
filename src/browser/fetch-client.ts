import { Fault } from "../core/index.js";
import type { HttpClient, Sent } from "../io/index.js";
import { bodyOf, unreached, wholeOf } from "./body.js";

/** Sends requests with fetch. Redirects are not followed: credentials would go along. */
export function fetchClient(fetchWith: typeof fetch): HttpClient {
  return {
    async send(method, url, { headers, body, cancel }) {
      const controller = new AbortController();
      const unhook = cancel?.on(() => controller.abort(cancel.reason)) ?? (() => {});
      try {
        const { signal } = controller;
        const response = await fetchWith(url.href, { method, headers, signal, redirect: "error", ...(body !== undefined && { body }) });
        return sentOf(response, unhook);
      } catch (error) {
        unhook();
        throw unreached(error, url.href);
      }
    },
    close() {},
  };
}

function sentOf(response: Response, ended: () => void): Sent {
  async function* body(): AsyncGenerator<Uint8Array> {
    try {
      yield* bodyOf(response);
    } finally {
      ended();
    }
  }
  return {
    status: response.status,
    header: (name) => response.headers.get(name) ?? undefined,
    body: body(),
    async text(maxBytes) {
      const bytes = await wholeOf(body(), maxBytes);
      try {
        return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      } catch (cause) {
        throw new Fault("parse", "the answer is not UTF-8", { cause });
      }
    },
    beat() {},
  };
}
