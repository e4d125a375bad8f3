import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { convertTool } from "../../src/schema/index.js";

const page = readFileSync(join(import.meta.dirname, "../../docs/schemas.md"), "utf8");
const rows = [...page.matchAll(/^\| (.+?) \| `(.+?)` \| `(.+?)` \| (.+?) \|$/gm)].map(
  ([, about = "", ...cells]) => [about, ...cells.map((cell) => cell.replaceAll("\\|", "|"))] as const,
);

it("docs/schemas.md has the mapping table", () => expect(rows.length).toBeGreaterThan(25));

it.each(rows)("docs/schemas.md says what becomes of: %s", (_, schema = "", field = "", residual = "") => {
  const inputSchema = { type: "object", properties: { v: JSON.parse(schema) as unknown }, additionalProperties: false };
  const { input, text } = convertTool({ name: "t", inputSchema }, { package: "t.v1" });
  expect(text().replace(/\s+/g, " ")).toContain(` ${field} `);
  expect(input.residual.map(({ keyword }) => `\`${keyword}\``).join(", ") || "–").toBe(residual);
});
