import { expect, it } from "vitest";
import { announcement } from "./announce.js";

const at = [{ wire: "http", address: "http://127.0.0.1:8000/team/mcp" }];

it.each([
  ["https://mcp.example.com", "https://mcp.example.com/team/mcp"],
  ["https://mcp.example.com/other", "https://mcp.example.com/other"],
])("a public URL %s is shown to clients as %s", (given, url) => {
  const lines = announcement({ name: "it", addresses: at, publicUrl: new URL(given), client: undefined, keyed: false });
  expect(lines).toContain(`  to clients       ${url}`);
  expect(lines.at(-1)).toBe(`  "it": {"type":"http","url":"${url}"}`);
});
