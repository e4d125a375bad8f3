import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { octets } from "../../src/demo/generated.js";
import { anywire, demo, fixture, jsonLines, run, scratch, start } from "./support.js";

const generated = (from: number, to: number): Buffer => Buffer.concat([...octets(from, to)]);

describe("read", () => {
  it("writes text and octets as they are", async () => {
    expect((await run(["read", "demo://about", ...demo])).stdout).toBe("Any MCP client, any MCP server, any wire, either era.\n");
    const { stdout } = await run(["read", "demo://file", "--offset", "67108800", ...demo]);
    expect(stdout).toMatch(/^line 1048575 of 1048576, at byte 67108800\.+\n$/);
    const chunks = jsonLines((await run(["read", "demo://generated/20", "--offset", "10", "--json", ...demo])).stdout);
    expect(chunks).toEqual([
      {
        uri: "demo://generated/20",
        mimeType: "application/octet-stream",
        offset: 10,
        size: 20,
        blob: generated(10, 20).toString("base64"),
      },
    ]);
  });

  it("writes to a file under another name, and goes on where that ends", async () => {
    const file = join(scratch(), "out.bin");
    const first = await run(["read", "demo://generated/1mb", "-o", file, ...demo]);
    expect(first).toEqual({ code: 0, stdout: "", stderr: `1.0 MB in ${file}\n` });
    expect(readFileSync(file).equals(generated(0, 1_000_000))).toBe(true);
    expect(existsSync(`${file}.part`)).toBe(false);

    writeFileSync(`${file}.part`, generated(0, 654_321));
    const second = await run(["read", "demo://generated/1mb", "-o", file, "-vv", ...demo]);
    expect(second.stderr).toContain("going on at 654321");
    expect(/"dev\.anywire\/chunked":\{"offset":(\d+)/.exec(second.stderr)?.[1]).toBe("654321");
    expect(readFileSync(file).equals(generated(0, 1_000_000))).toBe(true);
  });

  it("keeps what it has when it is interrupted", async () => {
    const file = join(scratch(), "out.bin");
    const running = start(process.execPath, [anywire, "read", "demo://generated/1gb", "-o", file, ...demo]);
    while (!existsSync(`${file}.part`) || statSync(`${file}.part`).size < 1_000_000) await new Promise((done) => setTimeout(done, 10));
    running.child.kill("SIGINT");
    const { code, stderr } = await running.ended;
    expect(code).toBe(130);
    expect(stderr).toMatch(/out\.bin\.part has the first .* MB; the same command goes on from there\n$/);
    const kept = readFileSync(`${file}.part`);
    expect(kept.equals(generated(0, kept.length))).toBe(true);
    expect(existsSync(file)).toBe(false);
  });

  it("counts --offset and what the part has together", async () => {
    const file = join(scratch(), "tail.bin");
    writeFileSync(`${file}.part`, generated(500_000, 600_000));
    expect((await run(["read", "demo://generated/1mb", "--offset", "500000", "-o", file, ...demo])).code).toBe(0);
    expect(readFileSync(file).equals(generated(500_000, 1_000_000))).toBe(true);
  });

  it("reads a character anew that was cut in two", async () => {
    const file = join(scratch(), "text");
    const server = fixture("text-server.mjs");
    const whole = "a".repeat(10) + "é€🎈".repeat(50_000);
    writeFileSync(`${file}.part`, whole);
    truncateSync(`${file}.part`, 10 + 9 * 1000 + 7); // within the balloon
    expect((await run(["read", "test://text", "-o", file, "--", process.execPath, server])).code).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(whole);
  });

  it("writes to a device without replacing it", async () => {
    expect((await run(["read", "demo://generated/1mb", "-o", "/dev/null", ...demo])).code).toBe(0);
    expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
  });

  it("says in a line that there is no space left", async () => {
    const { code, stdout, stderr } = await run(["read", "demo://generated/1mb", "-o", "/dev/full", ...demo]);
    expect([code, stdout, stderr]).toEqual([1, "", "anywire: -o /dev/full: no space is left\n"]);
  });

  it("holds a few chunks of a big resource, not the resource", { timeout: 120_000 }, async () => {
    const { code, stderr } = await run(["read", "demo://generated/300mb", "-o", "/dev/null", ...demo], {
      node: ["-r", fixture("usage.cjs")],
    });
    expect(code).toBe(0);
    const { rssKb } = JSON.parse(/usage (.*)/.exec(stderr)?.[1] ?? "{}") as { rssKb: number };
    console.log(`read of 300 MB: ${Math.round(rssKb / 1024)} MiB resident at the most`);
    expect(rssKb).toBeLessThan(220 * 1024);
  });
});
