import { writeFileSync } from "node:fs";
import { createServer as createHttp, type IncomingHttpHeaders, request } from "node:http";
import { createServer as createTcp } from "node:net";
import { join } from "node:path";
import * as grpc from "@grpc/grpc-js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { connect } from "../../src/api/index.js";
import { anywire, everything, jsonLines, lines, run, scratch, script, start } from "../cli/support.js";
import { portOf } from "../relay/raw/sockets.js";
import { everythingOverHttp, overHttp, overSse, overStdio, startBridge, textOf } from "./support.js";

const echo = { name: "echo", arguments: { message: "hi" } };
const anyPort = ["--listen", "any://127.0.0.1:0"] as const;

function ping(authority: string): Promise<number> {
  const channel = new grpc.Client(authority, grpc.credentials.createInsecure());
  const identity = (bytes: Buffer): Buffer => bytes;
  return new Promise<number>((resolve) =>
    channel.makeUnaryRequest("/mcp.v1.McpService/Ping", identity, identity, Buffer.alloc(0), (error) => resolve(error?.code ?? 0)),
  ).finally(() => channel.close());
}

describe("anywire bridge", () => {
  it("puts a real server on every wire of one port, and says where", async () => {
    const bridge = await startBridge([...anyPort, "--sessions", "shared", ...everything]);
    expect(await textOf((await overHttp(bridge.at("Streamable HTTP"))).callTool(echo))).toBe("Echo: hi");
    expect(await textOf((await overSse(bridge.at("HTTP+SSE"))).callTool(echo))).toBe("Echo: hi");
    expect(await ping(bridge.at("gRPC").replace("grpc://", ""))).toBe(grpc.status.OK);
    for (const title of ["WebSocket", "gRPC", "lines of JSON"]) {
      await using client = await connect(bridge.at(title));
      expect((await client.callTool("echo", { message: "hi" })).content).toEqual([{ type: "text", text: "Echo: hi" }]);
    }
    const rows = lines(bridge.said).filter((line) => /^ {2}\S.* {2,}\S+:\/\//.test(line));
    expect(rows.length).toBeGreaterThanOrEqual(6);
    expect(new Set(rows.map((line) => line.search(/\S+:\/\//))).size).toBe(1);
    expect(Math.max(...lines(bridge.said).map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(bridge.said).toContain('"everything"');
    bridge.child.kill("SIGTERM");
    expect((await bridge.ended).code).toBe(0);
  });

  it("shows a model an index of the tools, and calls the others all the same", async () => {
    const bridge = await startBridge([...anyPort, "--discover", "progressive", "--deny-tool", "get-env", ...everything]);
    const client = await overHttp(bridge.at("Streamable HTTP"));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["describe_tools", "search_tools"]);
    expect(JSON.stringify(tools)).toContain("get-sum");
    expect(JSON.stringify(tools)).not.toContain("get-env");
    const found = await textOf(client.callTool({ name: "describe_tools", arguments: { names: ["echo"] } }));
    expect(found).toContain("message");
    expect(await textOf(client.callTool(echo))).toBe("Echo: hi");
  });

  it("gives a URL that works to paste where it listens for other machines, and says by which names they may call", async () => {
    const wide = ["--listen", "any://0.0.0.0:0", "--insecure"];
    const bridge = await startBridge([...wide, ...everything]);
    await bridge.shows(/have to call it by a loopback name, or by one that --allow-host names/);
    const [, pasted = ""] = /"url":"([^"]+)"/.exec(bridge.said) ?? [];
    expect(await textOf((await overHttp(pasted)).callTool(echo))).toBe("Echo: hi");

    const named = await startBridge([...wide, "--allow-host", "mcp.example.com", ...everything]);
    expect(named.said).toMatch(/"url":"http:\/\/mcp\.example\.com:\d+\/mcp"/);
    named.child.kill("SIGTERM");
    expect((await named.ended).stderr).not.toContain("--allow-host");
  });

  it("takes the next free port and says so, unless the port was asked for", async () => {
    const holder = createTcp().listen(8000, "127.0.0.1");
    // Somebody else may have it already, which is the same to the bridge.
    await new Promise<void>((resolve) => holder.once("listening", resolve).once("error", () => resolve()));
    onTestFinished(() => void holder.close());
    const bridge = await startBridge([...everything]);
    await bridge.shows(/port 8000 is in use; listening on 80\d\d/);
    expect(bridge.at("Streamable HTTP")).toMatch(/^http:\/\/127\.0\.0\.1:80(?!00)\d\d\/mcp$/);
    const asked = await run(["bridge", "--listen", "http://127.0.0.1:8000", ...everything]);
    expect(asked.code).toBe(4);
    expect(lines(asked.stderr).at(-1)).toMatch(/^anywire: cannot listen on 127\.0\.0\.1:8000: .*; /);
    // The server is not to blame.
    const nowhere = await run(["bridge", "--lazy", "--listen", "http+unix:/nonexistent/mcp.sock", "--to", "http://127.0.0.1:1/mcp"]);
    expect(nowhere.code).toBe(4);
    expect(nowhere.stderr).toMatch(/^anywire: cannot listen on \/nonexistent\/mcp\.sock: /);
  });

  it("takes the next port, too, if another bridge took the free one while the server started", async () => {
    const slow = ["--", "sh", "-c", 'sleep 1; exec "$@"', "sh", ...everything.slice(1)];
    const bridges = await Promise.all([startBridge(slow), startBridge(slow)]);
    const urls = bridges.map((bridge) => bridge.at("Streamable HTTP"));
    expect(new Set(urls).size).toBe(2);
    for (const url of urls) expect(await textOf((await overHttp(url)).callTool(echo))).toBe("Echo: hi");
  });

  it("brings a URL to a client that only starts commands, with nothing but JSON-RPC on stdout", async () => {
    const { url } = await everythingOverHttp();
    const client = await overStdio(["bridge", "--listen", "stdio:", url]);
    expect(await textOf(client.callTool(echo))).toBe("Echo: hi");
    expect((await client.listTools()).tools.length).toBeGreaterThan(5);
    const initialize = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "0" } },
    };
    const raw = start(process.execPath, [anywire, "bridge", "-v", "--listen", "stdio:", "--to", url]);
    raw.child.stdin.write(`${JSON.stringify(initialize)}\n`);
    await raw.shows('"serverInfo"');
    raw.child.stdin.end();
    const { stdout, code } = await raw.ended;
    expect(code).toBe(0);
    for (const message of jsonLines(stdout)) expect(message).toMatchObject({ jsonrpc: "2.0" });
  });

  it.each(["stdio:", "http+stdio:"])("shows no tour of the demo where a client reads stdout: %s", async (address) => {
    const { stdout, code } = await run(["bridge", "--listen", address, "--demo"]);
    expect(stdout).not.toContain("tour");
    expect(code).toBe(0);
  });

  it("lets calls in flight finish on SIGTERM, and takes no more", async () => {
    const bridge = await startBridge([...anyPort, ...everything]);
    const client = await overHttp(bridge.at("Streamable HTTP"));
    let began = (): void => {};
    const running = new Promise<void>((resolve) => {
      began = resolve;
    });
    const slow = client.callTool({ name: "trigger-long-running-operation", arguments: { duration: 1, steps: 5 } }, undefined, {
      onprogress: () => began(),
    });
    await running;
    bridge.child.kill("SIGTERM");
    expect(await textOf(slow)).toContain("completed");
    expect((await bridge.ended).code).toBe(0);
  });

  it("leaves at once on the second interrupt", async () => {
    const bridge = await startBridge([...anyPort, "--drain", "10m", ...everything]);
    const client = await overHttp(bridge.at("Streamable HTTP"));
    const progress = vi.fn();
    const slow = client.callTool({ name: "trigger-long-running-operation", arguments: { duration: 600, steps: 6000 } }, undefined, {
      onprogress: progress,
    });
    slow.catch(() => {});
    await vi.waitFor(() => expect(progress).toHaveBeenCalled());
    bridge.child.kill("SIGINT");
    await vi.waitFor(async () =>
      expect((await fetch(bridge.at("Streamable HTTP").replace("/mcp", "/readyz")).catch(() => undefined))?.status).not.toBe(200),
    );
    await bridge.shows("anywire: waiting for open calls and the server to end; a second Ctrl-C or signal exits at once");
    bridge.child.kill("SIGINT");
    expect((await bridge.ended).code).toBe(130);
  });

  it("never passes a client's credentials on", async () => {
    const seen: IncomingHttpHeaders[] = [];
    const { url: upstream } = await everythingOverHttp();
    // Passes everything on to the real server, and keeps the headers.
    const spy = createHttp((asked, answer) => {
      seen.push(asked.headers);
      const onward = request(upstream, { method: asked.method, headers: { ...asked.headers, host: new URL(upstream).host } }, (got) => {
        answer.writeHead(got.statusCode ?? 502, got.headers);
        got.pipe(answer);
      });
      onward.on("error", () => answer.destroy());
      asked.pipe(onward);
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => spy.once("listening", resolve));
    onTestFinished(() => void spy.closeAllConnections());
    const { port } = spy.address() as { port: number };
    const bridge = await startBridge([...anyPort, "--header", "X-Ours: 1", `http://127.0.0.1:${port}/mcp`]);
    const secrets = { authorization: "Bearer s3cret", "x-api-key": "s3cret", cookie: "a=s3cret", "x-other": "s3cret" };
    expect(await textOf((await overHttp(bridge.at("Streamable HTTP"), secrets)).callTool(echo))).toBe("Echo: hi");
    expect(seen.length).toBeGreaterThan(2);
    expect(seen.every((headers) => headers["x-ours"] === "1")).toBe(true);
    expect(JSON.stringify(seen)).not.toContain("s3cret");
  });

  it("keeps its keys from the server that it starts", async () => {
    const env = { BRIDGE_SPEC_KEY: "s3cret", BRIDGE_SPEC_OTHER: "seen" };
    const bridge = await startBridge([...anyPort, "--api-key-env", "BRIDGE_SPEC_KEY", "--env", "*", ...everything], env);
    const client = await overHttp(bridge.at("Streamable HTTP"), { authorization: "Bearer s3cret" });
    const told = await textOf(client.callTool({ name: "get-env" }));
    expect(told).toContain("BRIDGE_SPEC_OTHER");
    expect(told).not.toContain("s3cret");
  });

  it("has health, readiness that follows the server, and metrics", async () => {
    const bridge = await startBridge([...anyPort, "--metrics-tools", ...everything]);
    const base = bridge.at("Streamable HTTP").replace("/mcp", "");
    const get = async (path: string): Promise<readonly [number, string]> => {
      const answer = await fetch(`${base}${path}`);
      return [answer.status, await answer.text()];
    };
    expect(await get("/healthz")).toEqual([200, "ok\n"]);
    expect(await get("/readyz")).toEqual([200, "ready\n"]);
    await (await overHttp(`${base}/mcp`)).callTool(echo);
    const [status, text] = await get("/metrics");
    expect(status).toBe(200);
    expect(text).toContain('anywire_calls_total{side="listen",wire="http",method="tools/call",outcome="ok"} 1');
    expect(text).toContain('anywire_tool_calls_total{tool="echo",outcome="ok"} 1');
    expect(text).toContain('anywire_upstream_state{state="ready"} 1');
    expect((await fetch(`${base}/metrics`, { headers: { origin: "https://evil.example" } })).status).toBe(403);
    expect((await fetch(`${base}/healthz`, { method: "POST" })).status).toBe(405);
  });

  it("is not ready while its server cannot be started", async () => {
    const flag = join(scratch(), "broken");
    // Works once, and then exits at once.
    const source = `const fs = require("node:fs"); if (fs.existsSync(${JSON.stringify(flag)})) process.exit(3);
      fs.writeFileSync(${JSON.stringify(flag)}, ""); require("node:child_process").spawn(process.execPath, ${JSON.stringify(everything.slice(2))}, { stdio: "inherit" }).on("exit", () => process.exit(1));
      setTimeout(() => process.exit(9), 3000);`;
    const bridge = await startBridge([...anyPort, ...script(source)]);
    const base = bridge.at("Streamable HTTP").replace("/mcp", "");
    const answer = await vi.waitFor(
      async () => {
        const found = await fetch(`${base}/readyz`);
        expect(found.status).toBe(503);
        return found.text();
      },
      { timeout: 20_000 },
    );
    expect(answer).toMatch(/^(backing-off|starting|failed)\n$/);
    expect((await fetch(`${base}/healthz`)).status).toBe(200);
    await bridge.shows("anywire: lost the server");
  });

  it("lets in only who has a key, on every wire and for its metrics", async () => {
    const file = join(scratch(), "keys");
    const made = await run(["bridge", "--hash-key", "ada"]);
    writeFileSync(file, made.stdout);
    const key = /aw_\S+/.exec(made.stderr)?.[0] as string;
    expect(made.stdout).not.toContain(key);
    const bridge = await startBridge([...anyPort, "--api-keys", file, ...everything]);
    const url = bridge.at("Streamable HTTP");
    expect(await textOf((await overHttp(url, { "x-api-key": key })).callTool(echo))).toBe("Echo: hi");
    await expect(overHttp(url)).rejects.toThrow();
    expect(await ping(bridge.at("gRPC").replace("grpc://", ""))).toBe(grpc.status.UNAUTHENTICATED);
    await expect(connect(bridge.at("WebSocket"))).rejects.toThrow();
    expect((await fetch(url.replace("/mcp", "/metrics"))).status).toBe(401);
    expect((await fetch(url.replace("/mcp", "/metrics"), { headers: { authorization: `Bearer ${key}` } })).status).toBe(200);
    expect((await fetch(url.replace("/mcp", "/readyz"))).status).toBe(200);
    expect(bridge.said).toContain("Bearer <key>");
  });

  it("believes a proxy that is trusted on who calls, and nobody else", async () => {
    const trusted = ["--trusted-user", "X-User", "--log", "none"];
    const bridge = await startBridge([...anyPort, "--trusted-proxy", "127.0.0.1", ...trusted, ...everything]);
    expect(await textOf((await overHttp(bridge.at("Streamable HTTP"), { "x-user": "ada" })).callTool(echo))).toBe("Echo: hi");
    await expect(overHttp(bridge.at("Streamable HTTP"))).rejects.toThrow();
    expect(await ping(bridge.at("gRPC").replace("grpc://", ""))).toBe(grpc.status.UNAUTHENTICATED);
    const other = await startBridge([...anyPort, "--trusted-proxy", "10.0.0.0/8", ...trusted, ...everything]);
    await expect(overHttp(other.at("Streamable HTTP"), { "x-user": "ada" })).rejects.toThrow();
  });

  it("offers only the tools that are allowed", async () => {
    const bridge = await startBridge([...anyPort, "--allow-tool", "{echo,get-*}", "--deny-tool", "get-env", ...everything]);
    const client = await overHttp(bridge.at("Streamable HTTP"));
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain("echo");
    expect(names.filter((name) => !/^(echo|get-)/.test(name) || name === "get-env")).toEqual([]);
    await expect(client.callTool({ name: "get-env" })).rejects.toThrow("is not offered here");
  });

  it("answers to hosts and pages that are allowed, below a base path", async () => {
    const bridge = await startBridge([
      ...anyPort,
      ...["--public-url", "https://mcp.example.com/team/mcp", "--base-path", "/team", "--allow-origin", "https://app.example.com"],
      ...everything,
    ]);
    const url = bridge.at("Streamable HTTP");
    expect(new URL(url).pathname).toBe("/team/mcp");
    expect(bridge.said).toContain("https://mcp.example.com/team/mcp");
    const preflight = await fetch(url, { method: "OPTIONS", headers: { origin: "https://app.example.com" } });
    expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, "https://app.example.com"]);
    expect(preflight.headers.get("access-control-expose-headers")).toContain("Mcp-Session-Id");
    expect((await fetch(url, { method: "OPTIONS", headers: { origin: "https://evil.example" } })).status).toBe(403);
    expect(await textOf((await overHttp(url)).callTool(echo))).toBe("Echo: hi");
  });

  it("takes paths without their first slash", async () => {
    const bridge = await startBridge([...anyPort, "--base-path", "team/", "--health", "up", ...everything]);
    const url = new URL(bridge.at("Streamable HTTP"));
    expect(url.pathname).toBe("/team/mcp");
    expect(await textOf((await overHttp(url.href)).callTool(echo))).toBe("Echo: hi");
    expect((await fetch(new URL("/up", url))).status).toBe(200);
  });

  it("warns of a file of keys without a key", async () => {
    const file = join(scratch(), "keys");
    writeFileSync(file, "# none yet\n");
    const bridge = await startBridge([...anyPort, "--api-keys", file, ...everything]);
    await bridge.shows(`${file} has no key, so every client is refused`);
    expect((await fetch(bridge.at("Streamable HTTP"), { method: "POST" })).status).toBe(401);
  });

  it("logs JSON alone on stderr with --log json, and the server's own words bounded", async () => {
    const noisy = "console.error('x'.repeat(5000)); for (let n = 0; n < 5000; n++) console.error('line ' + n);";
    const source = `${noisy} process.argv.splice(1, 0, ''); import(${JSON.stringify(`file://${everything[2]}`)});`;
    const bridge = await startBridge([...anyPort, "--log", "json", ...script(source)]);
    await (await overHttp(bridge.at("Streamable HTTP"))).callTool(echo);
    await bridge.shows(/"method":"tools\/call"/);
    bridge.child.kill("SIGTERM");
    const { stderr } = await bridge.ended;
    const events = jsonLines(stderr) as { event: string; text?: string }[];
    const words = events.filter(({ event }) => event === "stderr");
    expect(words.length).toBeGreaterThan(0);
    expect(words.length).toBeLessThan(2500);
    expect(Math.max(...words.map(({ text = "" }) => text.length))).toBeLessThan(2100);
    expect(stderr).not.toContain('"hi"');
  });

  it("takes the place of supergateway for the official SSE client", async () => {
    const [, ...command] = everything;
    const bridge = await startBridge([
      "--as",
      "supergateway",
      "--no-metrics",
      "--stdio",
      command.join(" "),
      "--port",
      "0",
      "--healthEndpoint",
      "/up",
      "--logLevel",
      "none",
    ]);
    const url = bridge.at("HTTP+SSE");
    expect(await textOf((await overSse(url)).callTool(echo))).toBe("Echo: hi");
    expect(await (await fetch(url.replace("/sse", "/up"))).text()).toBe("ok\n");
    expect((await fetch(url.replace("/sse", "/metrics"))).status).toBe(404);
  });

  it("takes the place of mcp-remote for a client that starts it, also if it asks for SSE first and there is none", async () => {
    const { url } = await everythingOverHttp();
    const client = await overStdio([
      "bridge",
      "--as",
      "mcp-remote",
      url,
      "--transport",
      "sse-first",
      "--allow-http",
      "--ignore-tool",
      "get-*",
    ]);
    expect(await textOf(client.callTool(echo))).toBe("Echo: hi");
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain("get-sum");
  });

  it("reads the variables of mcp-proxy as it does: a key that is set there is demanded", async () => {
    const env = { MCP_PROXY_API_KEY: "s3cret", MCP_PROXY_PORT: "0", MCP_PROXY_SERVER: "sse", MCP_PROXY_TUNNEL: "false" };
    const bridge = await startBridge(["--as", "mcp-proxy", "--server", "stream", ...everything], env);
    const url = bridge.at("Streamable HTTP");
    await expect(overHttp(url)).rejects.toThrow();
    const client = await overHttp(url, { "x-api-key": "s3cret" });
    expect(await textOf(client.callTool(echo))).toBe("Echo: hi");
    expect(await textOf(client.callTool({ name: "get-env" }))).not.toContain("s3cret");
  });

  it("is reached over SSE through a proxy that takes a path away, as supergateway with --baseUrl", async () => {
    let to = "";
    const proxy = createHttp((incoming, outgoing) => {
      if (incoming.url?.startsWith("/pre/") !== true) return void outgoing.writeHead(404).end();
      const forwarded = request(`${to}${incoming.url.slice("/pre".length)}`, {
        method: incoming.method ?? "GET",
        headers: incoming.headers,
      });
      forwarded.on("response", (answer) => answer.pipe(outgoing.writeHead(answer.statusCode ?? 502, answer.headers)));
      incoming.pipe(forwarded.on("error", () => outgoing.destroy()));
    });
    const at = `http://127.0.0.1:${await portOf(proxy)}/pre`;
    onTestFinished(() => proxy.closeAllConnections());
    onTestFinished(() => void proxy.close());
    const [, ...command] = everything;
    const bridge = await startBridge([
      "--as",
      "supergateway",
      "--stdio",
      command.join(" "),
      "--port",
      "0",
      "--ssePath",
      "/events",
      "--baseUrl",
      at,
    ]);
    to = new URL(bridge.at("HTTP+SSE")).origin;
    expect(bridge.said).toContain(`"everything": {"type":"sse","url":"${at}/events"}`);
    expect(await textOf((await overSse(`${at}/events`)).callTool(echo))).toBe("Echo: hi");
  });

  it("shows the demo on four wires", async () => {
    const bridge = await startBridge([...anyPort, "--demo"]);
    await bridge.shows("It listens until Ctrl-C");
    for (const part of ["over Streamable HTTP", "Hello, Ada!", "4 of 4", "100 MB of a resource"]) expect(bridge.said).toContain(part);
  });
});

describe("what goes wrong", () => {
  it.each([
    ["nothing to bridge", [], 2, "what to put on the wires is missing"],
    ["two servers", ["--to", "http://h/mcp", "--", "x"], 2, "give one of them"],
    ["an unknown scheme", ["ftp://h/"], 2, "no wire for the address"],
    ["a port to listen on", ["--listen", "9000", "--", "x"], 2, "--listen 9000 lacks its scheme: any://127.0.0.1:9000 for every wire"],
    ["a host to listen on", ["--listen", "localhost:9000/mcp", "--", "x"], 2, "lacks its scheme: any://localhost:9000 for every wire"],
    ["no URL", ["http://:::/"], 2, "not a URL"],
    ["an unknown command", ["--", "no-such-command-here"], 4, "command not found; check its name, or give its path"],
    [
      "a command with its arguments",
      ["--", "node server.js"],
      4,
      "command not found; the command is one word, and its arguments are given apart",
    ],
    [
      "a server that exits at once",
      [...script("console.error('boom: no config'); process.exit(3)")],
      4,
      "exited with code 3: boom: no config",
    ],
    ["a bad mode", ["--sessions", "many", "--", "x"], 2, "--sessions takes auto, shared, own or pool=N"],
    ["a bad offer", ["--offer", "cake", "--", "x"], 2, "--offer takes"],
    ["no such file of keys", ["--api-keys", "/nonexistent", "--", "x"], 2, "--api-keys /nonexistent: no such file"],
    ["a bad proxy", ["--trusted-proxy", "example.com", "--", "x"], 2, "not an address or a network"],
    [
      "two wires on one port",
      ["--listen", "http://127.0.0.1:8000", "--listen", "ws://127.0.0.1:8000/mcp", ...everything],
      2,
      "--listen names 127.0.0.1:8000 twice; any://127.0.0.1:8000 serves every wire there",
    ],
    ["a host with a port", ["--allow-host", "h:8000", ...everything], 2, "--allow-host takes a name without a scheme or a port"],
    ["a host with a scheme", ["--allow-host", "https://h", ...everything], 2, "--allow-host takes a name without a scheme or a port"],
    ["an origin with a path", ["--allow-origin", "https://h/", ...everything], 2, "--allow-origin takes an origin without a path"],
    ["a CA without a certificate", ["--tls-ca", "/dev/null", ...everything], 2, "--tls-ca needs --tls-cert and --tls-key"],
    ["a port that is none", ["--callback-port", "99999", "http://127.0.0.1:9/mcp"], 2, "--callback-port takes a port from 1 to 65535"],
    ["another machine to come back to", ["--callback-url", "http://h/x", "http://127.0.0.1:9/mcp"], 2, "takes an http URL of this machine"],
    ["a key for a name that its file cannot have", ["--hash-key", "a:b"], 2, "--hash-key takes a name without spaces or colons"],
    ["an open door", ["--listen", "any://0.0.0.0:0", ...everything], 2, "--insecure"],
    ["--as too late", ["--verbose", "--as", "mcp-proxy"], 2, "right after bridge"],
    ["--as too late with flags of theirs", ["-v", "--as=supergateway", "--stdio", "x"], 2, "right after bridge"],
    ["an unknown flag of theirs", ["--as", "mcp-proxy", "--bogus", "srv"], 2, "has no flag --bogus"],
    ["a base path for an address that has its own", ["--base-path", "/x", "--listen", "http://127.0.0.1:0", "--", "x"], 2, "is for any://"],
    [
      "a path for every wire",
      ["--listen", "any://127.0.0.1:0/x", "--", "x"],
      2,
      "any:// takes no path; give --listen any://127.0.0.1:0 --base-path /x",
    ],
    ["nobody there", ["http://127.0.0.1:9/mcp"], 4, "nothing listens there"],
  ] as const)("%s is told in one line", async (_name, args, code, part) => {
    const outcome = await run(["bridge", ...args]);
    const told = lines(outcome.stderr).filter((line) => line.startsWith("anywire: "));
    expect([outcome.code, outcome.stdout, told.at(-1)]).toEqual([code, "", expect.stringContaining(part)]);
    expect(told).toHaveLength(1);
  });

  it("a server that talks to people on its stdout is told at once, and again when it is given up", async () => {
    const talks = script("console.log('Listening on port 3000'); setInterval(() => {}, 1000)");
    const { code, stderr } = await run(["bridge", "--connect-timeout", "1s", ...talks]);
    expect(code).toBe(5);
    const told = lines(stderr).filter((line) => line.startsWith("anywire: "));
    expect(told[0]).toMatch(
      /^anywire: the server printed on stdout what is not an MCP message \(.*Listening.*\); its log belongs on stderr$/,
    );
    expect(told[1]).toMatch(/^anywire: timed out: .*it printed on stdout what is not an MCP message/);
    expect(told).toHaveLength(2);
  });

  it("a page in place of a server is told in one line, without a word on its stdout", async () => {
    const page = createHttp((_request, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>"));
    const url = `http://127.0.0.1:${await portOf(page)}/mcp`;
    const { code, stderr } = await run(["bridge", url]);
    page.close();
    expect(code).toBe(4);
    expect(lines(stderr)).toEqual([`anywire: cannot connect to ${url}: the server's answer is not an MCP message: HTTP 200, text/html`]);
  });

  it("a program that prints something else and ends is no server that was lost", async () => {
    const { code, stderr } = await run(["bridge", ...script("console.log('Welcome!'); setTimeout(() => process.exit(0), 100)")]);
    expect(code).toBe(4);
    expect(stderr).not.toMatch(/lost the server|the server is back/);
    expect(stderr).toContain("the server exited with code 0; it printed on stdout what is not an MCP message");
  });

  it("the end of a bridge that logs JSON is JSON", async () => {
    const { code, stderr } = await run(["bridge", "--log", "json", ...script("process.exit(3)")]);
    expect(code).toBe(4);
    expect(jsonLines(stderr).at(-1)).toMatchObject({ event: "end", text: "the server exited with code 3" });
  });
});
