import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, linkSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer as createTcp } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { root, run, scratch, script } from "../cli/support.js";

/** A server written by hand whose one resource is `whole`. */
const server = script(`
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (id === undefined) return;
    const result = {
      initialize: { protocolVersion: "2025-11-25", capabilities: { resources: {} }, serverInfo: { name: "raw", version: "1" } },
      "resources/read": { contents: [{ uri: "x:y", text: "whole" }] },
      "resources/list": { resources: [] },
      "resources/templates/list": { resourceTemplates: [] },
    }[method];
    console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error: { code: -32601, message: "no" } }) }));
  });`);

describe.skipIf(process.platform === "win32")("read -o in a directory that others may write to", () => {
  const refused = /^anywire: -o .*: .*\.part is not a plain file of yours; delete it, or choose another name\n$/;

  it("does not write through a symbolic link, whether or not it leads anywhere", async () => {
    const folder = scratch();
    const victim = join(folder, "victim");
    writeFileSync(victim, "wh");
    symlinkSync(victim, join(folder, "x.part"));
    symlinkSync(join(folder, "nowhere"), join(folder, "z.part"));
    for (const name of ["x", "z"]) {
      const { code, stderr } = await run(["read", "x:y", "-o", join(folder, name), ...server]);
      expect([code, stderr]).toEqual([2, expect.stringMatching(refused)]);
    }
    expect(readFileSync(victim, "utf8")).toBe("wh");
    expect(existsSync(join(folder, "nowhere"))).toBe(false);
  });

  it("does not go on with what another may have begun: a hard link, a pipe, a socket, somebody else's file", async () => {
    const folder = scratch();
    writeFileSync(join(folder, "victim"), "wh");
    linkSync(join(folder, "victim"), join(folder, "hard.part"));
    await once(spawn("mkfifo", [join(folder, "pipe.part")], { stdio: "ignore" }), "exit");
    const socket = createTcp().listen(join(folder, "socket.part"));
    await once(socket, "listening");
    onTestFinished(() => void socket.close());
    const names = ["hard", "pipe", "socket"];
    if (process.getuid?.() === 0) {
      writeFileSync(join(folder, "other.part"), "wh");
      chownSync(join(folder, "other.part"), 65_534, 65_534);
      names.push("other");
    }
    for (const name of names) {
      const { code, stderr } = await run(["read", "x:y", "-o", join(folder, name), ...server]);
      expect([name, code, stderr]).toEqual([name, 2, expect.stringMatching(refused)]);
      expect(existsSync(join(folder, name))).toBe(false);
    }
    expect(readFileSync(join(folder, "victim"), "utf8")).toBe("wh");
  });

  it("replaces a link at the name itself, and writes a file of its own otherwise", async () => {
    const folder = scratch();
    writeFileSync(join(folder, "victim"), "kept");
    symlinkSync(join(folder, "victim"), join(folder, "x"));
    expect((await run(["read", "x:y", "-o", join(folder, "x"), ...server])).code).toBe(0);
    expect(lstatSync(join(folder, "x")).isFile()).toBe(true);
    expect(readFileSync(join(folder, "x"), "utf8")).toBe("whole");
    expect(readFileSync(join(folder, "victim"), "utf8")).toBe("kept");
    expect(readdirSync(folder).sort()).toEqual(["victim", "x"]);
  });
});

it.skipIf(process.platform === "win32").each(["", "worker"])(
  "grpc+unix: only its user may connect, whatever the umask: %s",
  async (where) => {
    const path = join(scratch(), "private.sock");
    const code = `
    const { serve, createServer } = await import(${JSON.stringify(`file://${root}/dist/api/index.js`)});
    await serve(createServer({ name: "unix", version: "1" }), ${JSON.stringify(`grpc+unix:${path}`)});
    const { writeFileSync } = await import("node:fs");
    writeFileSync(${JSON.stringify(`${path}.after`)}, "");
    console.log("ready");`;
    const threaded = `new (require("node:worker_threads").Worker)(new URL("data:text/javascript," + ${JSON.stringify(encodeURIComponent(code))}));`;
    const source = where === "" ? `(async () => {${code}})();` : threaded;
    const child = spawn(process.execPath, ["-e", `process.umask(0);${source}`], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    expect((statSync(path).mode & 0o777).toString(8)).toBe("600");
    // The rest of the program makes its files as before.
    expect((statSync(`${path}.after`).mode & 0o777).toString(8)).toBe("666");
  },
);
