import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { authority } from "../fixtures/certificates.js";
import { anywire, type Running, run, scratch, start } from "./support.js";

const running: Running[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) {
    one.child.kill("SIGINT");
    await one.ended;
  }
});

/** A demo that listens, until the test is over; gives its address. */
async function listening(...words: readonly string[]): Promise<string> {
  const demo = start(process.execPath, [anywire, "demo", "--listen", ...words]);
  running.push(demo);
  let text = "";
  for (;;) {
    const address = /listens on (\S+);/.exec(text)?.[1];
    if (address !== undefined) return address;
    text += String((await once(demo.child.stderr, "data"))[0]);
  }
}

describe("the command over gRPC", () => {
  it("works with every dialect and way to call", async () => {
    const address = await listening("grpc://127.0.0.1:0");
    for (const how of [[], ["--dialect", "tunnel"], ["--dialect", "mcp.v1"], ["--calls", "rpc"], ["--http2", "node"], ["--era", "legacy"]])
      expect(await run(["call", "echo", "text=hi", ...how, address]), how.join(" ")).toEqual({ code: 0, stdout: "hi\n", stderr: "" });
    expect((await run(["tools", "--json", address])).stdout).toContain('"name":"echo"');
    expect((await run(["read", "demo://about", address])).code).toBe(0);
    expect((await run(["prompts", address])).code).toBe(0);
    expect((await run(["discover", address])).stdout).toContain("anywire-demo");
  });

  it("starts a command that speaks it on stdin and stdout", async () => {
    const words = ["--", process.execPath, anywire, "demo", "--listen", "grpc+stdio:"];
    expect(await run(["call", "echo", "text=hi", "grpc+stdio:", ...words])).toMatchObject({ code: 0, stdout: "hi\n" });
    expect(await run(["tools", "grpc+stdio:", "--", process.execPath, "-e", "process.exit(3)"])).toMatchObject({ code: 4, stdout: "" });
    expect(await run(["tools", "grpc+stdio:"])).toMatchObject({ code: 2, stdout: "" });
  });

  it("checks certificates, and shows its own", async () => {
    const folder = scratch();
    const root = authority();
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const server = root.issue("127.0.0.1");
    const client = root.issue("agent.example");
    const ca = file("ca.pem", root.cert);
    const certificate = ["--tls-cert", file("cert.pem", server.cert), "--tls-key", file("key.pem", server.key)];
    const address = await listening("grpcs://127.0.0.1:0", ...certificate, "--tls-ca", ca);
    const shown = ["--cert", file("client.pem", client.cert), "--key", file("client-key.pem", client.key)];
    expect(await run(["call", "echo", "text=hi", "--ca", ca, ...shown, address])).toMatchObject({ code: 0, stdout: "hi\n" });
    expect((await run(["tools", "--ca", ca, "--timeout", "20s", address])).code).toBe(4);
    expect((await run(["tools", "--timeout", "20s", address])).code).toBe(4);
    expect(await run(["tools", "--cert", "nowhere.pem", address])).toMatchObject({ code: 2 });
    const everybody = await run(["demo", "--listen", "grpcs://0.0.0.0:0", ...certificate]);
    expect([everybody.code, everybody.stderr]).toEqual([
      2,
      "anywire: listening on 0.0.0.0 without authentication lets everyone call: pass --tls-ca, or --insecure if you want that\n",
    ]);
  });

  it("says what is wrong with an address", async () => {
    const unreachable = await run(["tools", "grpc://127.0.0.1:1"]);
    expect(unreachable).toMatchObject({ code: 4, stdout: "" });
    expect(unreachable.stderr).toContain("cannot connect to grpc://127.0.0.1:1");
    expect((await run(["tools", "grpc://"])).stderr).toContain("grpc://host:port");
    const wide = await run(["demo", "--listen", "grpc://0.0.0.0:0"]);
    expect(wide).toMatchObject({ code: 2 });
    expect(wide.stderr).toContain("without TLS");
  });
});
