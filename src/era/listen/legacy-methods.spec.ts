import { expect, it } from "vitest";
import { type OutgoingMessage, sharedStream } from "../../codec/index.js";
import { createServer, legacyMethods, meta } from "../../core/index.js";
import { serving } from "./serve-link.js";

const modern = { [meta.protocolVersion]: "2026-07-28", [meta.clientCapabilities]: {} };

/** What a server of both eras answers to one request. */
async function answerTo(method: string, params: Record<string, unknown>): Promise<OutgoingMessage> {
  const server = createServer({ name: "s", version: "1" }).resource({ uri: "a:b", name: "b" }, () => "b");
  return new Promise((resolve) => {
    const link = {
      ...sharedStream,
      backlog: 0,
      send: (message: unknown) => {
        resolve(message as OutgoingMessage);
        return Promise.resolve();
      },
    };
    void serving(server, link).take({ kind: "request", id: 1, method, params });
  });
}

it.each([...legacyMethods])("%s is unknown to a modern client", async (method) => {
  const params = { _meta: modern, uri: "a:b", level: "info", protocolVersion: "2025-11-25" };
  expect(await answerTo(method, params)).toMatchObject({ id: 1, error: { code: -32601 } });
});

it("ping is still there for a legacy client", async () => {
  expect(await answerTo("ping", {})).toMatchObject({ id: 1, result: {} });
});
