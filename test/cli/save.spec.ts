import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { extensionOf } from "../../src/cli/out/save.js";
import { demo, everything, fixture, hasTerminal, jsonLines, onTerminal, run, scratch } from "./support.js";

const PNG = "89504e470d0a1a0a";
const head = (path: string): string => readFileSync(path).subarray(0, 8).toString("hex");
const media = ["--", process.execPath, fixture("media-server.mjs")];

describe("call -o", () => {
  it("saves an image to the file, says so, and leaves stdout to the text", async () => {
    const path = join(scratch(), "logo.png");
    const { code, stdout, stderr } = await run(["call", "get-tiny-image", "-o", path, ...everything]);
    expect(code).toBe(0);
    expect(stdout).toBe("Here's the image you requested:\nThe image above is the MCP logo.\n");
    expect(stderr).toContain(`anywire: saved ${path} (image/png, 4.0 kB)\n`);
    expect(head(path)).toBe(PNG);
  });

  it("gives a name without an extension that of the type, and the others a number", async () => {
    const directory = scratch();
    const { stderr } = await run(["call", "all", "-o", join(directory, "it"), ...media]);
    expect(readdirSync(directory).sort()).toEqual(["it-2.mp3", "it-3.gz", "it-4.bin", "it.png"]);
    expect(stderr.match(/anywire: saved /g)).toHaveLength(4);
    expect(gunzipSync(readFileSync(join(directory, "it-3.gz"))).toString()).toBe("packed");
  });

  it("names the files of a directory after the tool, and replaces none", async () => {
    const directory = scratch();
    for (let turn = 0; turn < 2; turn++) await run(["call", "sound", "-o", directory, ...demo]);
    expect(readdirSync(directory).sort()).toEqual(["sound-1.wav", "sound-2.wav"]);
    expect(readFileSync(join(directory, "sound-2.wav")).subarray(0, 4).toString()).toBe("RIFF");
  });

  it("lets no tool's name or type choose another directory", async () => {
    const directory = join(scratch(), "inner");
    mkdirSync(directory);
    expect((await run(["call", "../../evil/..", "-o", directory, ...media])).code).toBe(0);
    expect(readdirSync(directory)).toEqual(["_evil_-1.bin"]);
    expect(readdirSync(join(directory, ".."))).toEqual(["inner"]);
  });

  it("with --json prints the whole result as well", async () => {
    const path = join(scratch(), "a.png");
    const { stdout, stderr } = await run(["call", "picture", "--json", "-o", path, ...demo]);
    expect(jsonLines(stdout)).toMatchObject([{ content: [{ type: "image", data: readFileSync(path).toString("base64") }] }]);
    expect(stderr).toContain(`saved ${path}`);
  });

  it("says when there was nothing to save, when a directory is missing, and when data is not base64", async () => {
    const directory = scratch();
    expect((await run(["call", "echo", "text=hi", "-o", directory, ...demo])).stderr).toContain("nothing was saved");
    expect(await run(["call", "echo", "text=hi", "-o", join(directory, "no/a.png"), ...demo])).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining(`there is no directory ${join(directory, "no")}`),
    });
    const broken = await run(["call", "broken", "-o", directory, ...media]);
    expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining("is not base64") });
    expect(readdirSync(directory)).toEqual([]);
  });

  it.runIf(hasTerminal)("without it a terminal shows a line, and how to save it", async () => {
    const running = onTerminal(["call", "picture", ...demo], { NO_COLOR: "1" });
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\[image image\/png 1\.8 kB\]\r\n-o FILE or -o DIR saves it\r\n$/);
  });
});

it.each([
  ["image/jpeg", ".jpg"],
  ["IMAGE/SVG+XML; charset=utf-8", ".svg"],
  ["audio/x-wav", ".wav"],
  ["image/webp", ".webp"],
  ["application/pdf", ".pdf"],
  ["application/vnd.oasis.opendocument.text", ".bin"],
  ["image/../../png", ".bin"],
  ["", ".bin"],
])("a file of the type %s ends in %s", (type, extension) => {
  expect(extensionOf(type)).toBe(extension);
});
