import { execFile } from "node:child_process";
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openUrl } from "../../src/oauth/open-url.js";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

describe.runIf(process.platform === "linux")("row 35: the opener", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "oauth-opener-"));
    const opener = join(folder, "xdg-open");
    await writeFile(opener, `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > "${folder}/part" && mv "${folder}/part" "${folder}/opened"\n`);
    await chmod(opener, 0o755);
    vi.stubEnv("PATH", `${folder}${delimiter}${process.env["PATH"]}`);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  });

  it("gets the URL as one argument, whatever a shell would make of it", async () => {
    const url = new URL(`https://as.example/authorize?a=$(touch ${folder}/pwned)&b=\`id\`;c='x'|y`);
    openUrl(url);
    await expect.poll(() => readdir(folder)).toContain("opened");
    expect(await readFile(join(folder, "opened"), "utf8")).toBe(`1\n${url.href}\n`);
    expect(await readdir(folder)).not.toContain("pwned");
  });

  it("is not started for another scheme", async () => {
    openUrl(new URL("javascript:alert(1)"));
    openUrl(new URL("file:///etc/passwd"));
    // Started after them and seen: they were not.
    openUrl(new URL("https://as.example/"));
    await expect.poll(() => readFile(join(folder, "opened"), "utf8").catch(() => "")).toBe("1\nhttps://as.example/\n");
  });
});

it("names the package that is missing", async () => {
  const hook = `export const resolve = (name, context, next) => {
    if (name === "@modelcontextprotocol/client") throw Object.assign(new Error("not found"), { code: "ERR_MODULE_NOT_FOUND" });
    return next(name, context);
  };`;
  const script = `
    import { register } from "node:module";
    register("data:text/javascript,${encodeURIComponent(hook)}");
    const { memoryStore, oauth } = await import("./dist/oauth/index.js");
    const auth = oauth({ store: memoryStore() });
    const challenge = { status: 401, url: new URL("http://127.0.0.1:1/mcp"), header: () => undefined, sent: {}, before: [] };
    await auth.challenged(challenge).catch((fault) => console.log(fault.name, fault.code, fault.message));`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], { cwd: root });
  expect(stdout).toContain("Fault unauthenticated signing in needs the package @modelcontextprotocol/client");
});
