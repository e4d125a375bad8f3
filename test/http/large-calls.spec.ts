import { createServer as createHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { connect } from "../../src/api/index.js";
import { nodeHandler } from "../../src/wires/http/index.js";
import { authority } from "../fixtures/certificates.js";
import { lab, open, until } from "./requests.js";

const root = authority();
const tls = root.issue("localhost", "127.0.0.1");
type Lab = ReturnType<typeof lab> & { readonly url: string } & AsyncDisposable;

/** The endpoint on Node's server of HTTP/1.1 over TLS. */
async function secured(): Promise<Lab> {
  const made = lab();
  const handler = nodeHandler(made.server);
  const server = createHttps(tls, handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    ...made,
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      await handler.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

const ways: readonly [string, () => Promise<Lab>][] = [
  ["HTTP/1.1", () => open()],
  ["HTTP/1.1 over TLS", secured],
  ["HTTP/2 over TLS", () => open({ tls }, "https")],
];

test.each(ways)("a large call that the server has read and is working on holds up no other: %s", async (_, begin) => {
  await using at = await begin();
  await using client = await connect(at.url, { tls: { ca: root.cert }, limits: { backlogBytes: 100_000 } });
  const leaving = new AbortController();
  const large = client.callTool("wait", { key: "large", text: "x".repeat(2_000_000) }, { signal: leaving.signal }).catch((fault) => fault);
  await until(() => at.waiting.has("large"));
  expect(await client.callTool("echo", { a: 1 })).toMatchObject({ structuredContent: { a: 1 } });
  leaving.abort();
  expect(await large).toMatchObject({ code: "cancelled" });
});
