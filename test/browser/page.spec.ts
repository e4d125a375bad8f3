import { createServer as createHttp } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createServer, elicit, progress, type ServeListener, type Server, serve } from "../../src/api/index.js";
import { openChromium } from "../support/chromium.js";
import { byEsbuild, byVite } from "./bundle.js";

/** What the page's script puts there. */
declare const visit: (address: string) => Promise<object>;

const BIG = 100 * 1024 * 1024;
const MOST_GZIPPED = 60_000;
const wires = { http: "httpWire", websocket: "webSocketWire", grpc: "connectWire" } as const;

function testServer(): Server {
  return createServer({ name: "page", version: "1" })
    .tool("count", { input: { type: "object", properties: { n: { type: "number" } } } }, async function* ({ n }) {
      for (let at = 1; at <= Number(n); at++) yield progress(at, Number(n), `step ${at}`);
      return "counted";
    })
    .tool("greet", {}, async function* () {
      const answer = yield* elicit({ message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } });
      return `hello ${String(answer.content?.["name"])}`;
    })
    .resource({ uri: "test://big", name: "big", mimeType: "application/octet-stream" }, async function* () {
      const chunk = Uint8Array.from({ length: 64 * 1024 }, (_, at) => at & 255);
      for (let at = 0; at < BIG; at += chunk.length) yield chunk.slice();
    });
}

let listener: ServeListener;
let browser: Browser;
let code = "";
/** Another origin than the server's: every call needs its leave. */
const site = createHttp((request, response) => {
  const js = request.url === "/page.js";
  response.writeHead(200, { "content-type": js ? "text/javascript" : "text/html" });
  response.end(js ? code : '<!doctype html><title>page</title><body><script type="module" src="/page.js"></script></body>');
});

beforeAll(async () => {
  listener = await serve(testServer(), "any://127.0.0.1:0");
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  browser = await openChromium();
}, 120_000);
afterAll(async () => {
  await browser?.close();
  site.closeAllConnections();
  await new Promise((resolve) => site.close(resolve));
  await listener?.close();
});

async function visited(script: string, name: string): Promise<object> {
  code = script;
  const address = listener.addresses.find(({ wire }) => wire === name)?.address ?? "";
  const tab = await browser.newPage();
  try {
    await tab.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}`);
    await tab.waitForFunction(() => "visit" in globalThis);
    return await tab.evaluate((at) => visit(at), address);
  } finally {
    await tab.close();
  }
}

describe.each(Object.entries(wires))("anywire/browser over %s", (name, wire) => {
  it("lists, hears progress, answers a question and reads 100 MB, from a page of another origin", { timeout: 120_000 }, async () => {
    expect(await visited(await byEsbuild(wire), name)).toEqual({
      era: "modern",
      tools: ["count", "greet"],
      steps: ["step 1", "step 2", "step 3"],
      counted: "counted",
      greeted: "hello Ada",
      asked: ["Who?"],
      failed: "invalid-params",
      bytes: BIG,
      wrong: 0,
    });
  });

  it(`is at most ${MOST_GZIPPED} bytes, gzipped`, async () => {
    const { byteLength } = gzipSync(await byEsbuild(wire, true), { level: 9 });
    expect(byteLength).toBeLessThanOrEqual(MOST_GZIPPED);
  });

  it("is bundled by Vite with nothing of Node", async () => {
    expect(await byVite(wire)).not.toMatch(/__vite-browser-external|["']node:/);
  });
});

it("a page bundled by Vite works as well", { timeout: 120_000 }, async () => {
  expect(await visited(await byVite("httpWire"), "http")).toMatchObject({ greeted: "hello Ada", bytes: BIG });
});
