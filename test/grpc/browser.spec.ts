import { createServer as createHttp } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { Browser, Page as BrowserPage } from "playwright-core";
import { build } from "vite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createServer, type Listener, progress, type Server, serve } from "../../src/api/index.js";
import { openChromium } from "../support/chromium.js";
import type { Page } from "./browser/page.js";

/** What the page's script puts there. */
declare const page: Page;

/** A server whose lists and progress go on one step at a time, when the test says so. */
class Steps {
  made = 0;
  #step: (() => void) | undefined;
  #allowed = 0;

  allow(): void {
    this.#allowed++;
    this.#step?.();
  }

  async next(): Promise<void> {
    while (this.made >= this.#allowed)
      await new Promise<void>((resolve) => {
        this.#step = resolve;
      });
    this.made++;
  }
}

let steps: Steps;
function stepping(): Server {
  return createServer({ name: "steps", version: "1" }).tools({
    async *list() {
      for (let at = 1; at <= 5; at++) {
        await steps.next();
        yield { name: `tool-${at}`, inputSchema: { type: "object" } };
      }
    },
    async *call(name, args) {
      if (name === "echo") return String(args["text"]);
      if (name !== "count") return undefined;
      for (let at = 1; at <= Number(args["n"]); at++) {
        await steps.next();
        yield progress(at, Number(args["n"]), `step ${at}`);
      }
      return "counted";
    },
  });
}

/** The page and all that it imports as one script for browsers. */
async function script(): Promise<string> {
  const made = await build({
    configFile: false,
    logLevel: "error",
    build: {
      write: false,
      minify: false,
      target: "es2022",
      lib: { entry: fileURLToPath(new URL("./browser/page.ts", import.meta.url)), formats: ["es"], fileName: "page" },
    },
  });
  const [output] = Array.isArray(made) ? made : [made];
  if (output === undefined || !("output" in output)) throw new Error("nothing was built");
  return output.output[0].code;
}

let grpc: Listener;
let socket: Listener;
let url: string;
let origin: string;
let code: string;
let browser: Browser;
let tab: BrowserPage;
/** Another origin than the server's: every call needs its leave. */
const site = createHttp((request, response) => {
  const js = request.url === "/page.js";
  response.writeHead(200, { "content-type": js ? "text/javascript" : "text/html" });
  response.end(js ? code : '<!doctype html><title>page</title><body><script type="module" src="/page.js"></script></body>');
});

beforeAll(async () => {
  steps = new Steps();
  grpc = await serve(stepping(), "grpc://127.0.0.1:0");
  socket = await serve(stepping(), "ws://127.0.0.1:0/mcp");
  url = grpc.address.replace("grpc:", "http:");
  code = await script();
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  browser = await openChromium();
}, 120_000);
afterAll(async () => {
  await browser?.close();
  site.closeAllConnections();
  await new Promise((resolve) => site.close(resolve));
  await grpc?.close();
  await socket?.close();
});

beforeEach(async () => {
  steps = new Steps();
  tab = await browser.newPage();
  await tab.goto(origin);
  await tab.waitForFunction(() => "page" in globalThis);
});
afterEach(() => tab.close());

function shown(): Promise<string[]> {
  return tab.evaluate(() => [...document.querySelectorAll("li")].map(({ textContent }) => textContent ?? ""));
}

const tools = ["tool-1", "tool-2", "tool-3", "tool-4", "tool-5"];

describe.each(["fetch alone", "Connect JSON", "Connect binary", "gRPC-Web"])("a page lists tools by %s", (protocol) => {
  it("and shows each before the server has made the next", async () => {
    const listed = tab.evaluate(([name, to]) => page.list(name as string, to as string), [protocol, url]);
    for (let at = 1; at <= tools.length; at++) {
      steps.allow();
      await tab.waitForFunction((count) => document.querySelectorAll("li").length >= count, at);
      expect(steps.made).toBe(at);
      expect((await shown()).slice(0, at)).toEqual(tools.slice(0, at));
    }
    await listed;
    expect(await shown()).toEqual([...tools, "end"]);
  });
});

describe.each(["Connect JSON", "Connect binary", "gRPC-Web"])("a page by %s", (protocol) => {
  const args = (): [string, string] => [protocol, url];

  it("calls a tool, and hears of its failure", async () => {
    expect(await tab.evaluate(([name, to]) => page.unary(name, to), args())).toBe("wörld 🌍");
    expect(await tab.evaluate(([name, to]) => page.failing(name, to), args())).toBe("3 -32602");
  });

  it("sees progress as it is made", async () => {
    const called = tab.evaluate(([name, to]) => page.progress(name, to), args());
    for (let at = 1; at <= 3; at++) {
      steps.allow();
      await tab.waitForFunction((count) => document.querySelectorAll("li").length >= count, at);
      expect(steps.made).toBe(at);
    }
    await called;
    expect(await shown()).toEqual(["step 1", "step 2", "step 3", "result"]);
  });
});

it("a page that is not allowed gets nothing", async () => {
  await using strict = await serve(stepping(), "grpc://127.0.0.1:0", { allowedOrigins: ["app.example"] });
  const to = strict.address.replace("grpc:", "http:");
  const failed = await tab.evaluate((at) => page.unary("Connect JSON", at).catch((error: Error) => `failed: ${error.message}`), to);
  expect(failed).toMatch(/^failed: /);
});

it("the streaming client runs in a page, on the browser's own WebSocket", async () => {
  for (const _tool of tools) steps.allow();
  const said = await tab.evaluate((at) => page.socket(at), socket.address);
  expect(said).toBe(`modern ${JSON.stringify([{ type: "text", text: "wörld 🌍" }])}`);
  expect(await shown()).toEqual(tools);
});
