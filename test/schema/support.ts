import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { onTestFinished } from "vitest";
import { type Catalogue, catalogueWriter, type Lock, moduleFiles, type ToolSchemas, toolsOf } from "../../src/schema/index.js";

export const root: string = resolve(import.meta.dirname, "../..");
export const fixtures = ["odd-names", "unions", "nesting", "scalars"] as const;

export function fixture(name: string): ToolSchemas[] {
  return toolsOf(JSON.parse(readFileSync(join(import.meta.dirname, "fixtures", `${name}.json`), "utf8")));
}

export function catalogueOf(tools: readonly ToolSchemas[], lock?: Lock): Catalogue {
  const writer = catalogueWriter({ package: "test.tools.v1", lock });
  for (const tool of tools) writer.add(tool);
  return writer.finish();
}

export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "anywire-schema-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

export function writeModule(catalogue: Catalogue, folder: string): void {
  for (const [path, text] of moduleFiles(catalogue)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** The real buf, without a network. */
export function buf(...args: readonly string[]): { readonly status: number | null; readonly text: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "node_modules/@bufbuild/buf/bin/buf"), ...args], {
    encoding: "utf8",
  });
  return { status, text: stdout + stderr };
}
