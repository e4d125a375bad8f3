import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buf, complaints, root } from "./buf.js";

const base = "test/fixtures/mcp/base";
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "anywire-proto-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the proto files", () => {
  it("are formatted and pass the linter", () => {
    expect(complaints("lint")).toBe("");
    expect(complaints("format", "--diff", "--exit-code")).toBe("");
  });

  it("break no peer that was compiled against the base", () => {
    expect(complaints("breaking", "--against", base)).toBe("");
  });

  it("would be found out if they did", () => {
    cpSync(join(root, "proto"), join(folder, "proto"), { recursive: true });
    cpSync(join(root, "buf.yaml"), join(folder, "buf.yaml"));
    const file = join(folder, "proto/mcp/v1/mcp.proto");
    const text = readFileSync(file, "utf8");
    const broken = text.replace("google.protobuf.Struct arguments = 2;", "google.protobuf.Struct arguments = 99;");
    expect(broken).not.toBe(text);
    writeFileSync(file, broken);
    expect(complaints("breaking", folder, "--against", base)).toContain("arguments");
  });

  it("are what the generated code was made of", () => {
    buf("generate", "-o", folder);
    const made = join(folder, "src/codec/gen");
    const kept = join(root, "src/codec/gen");
    const files = (from: string): string[] =>
      readdirSync(from, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith("_pb.ts"));
    expect(files(kept).sort()).toEqual(files(made).sort());
    expect(files(kept).length).toBeGreaterThan(4);
    for (const file of files(made)) expect(readFileSync(join(kept, file), "utf8"), file).toBe(readFileSync(join(made, file), "utf8"));
  });
});
