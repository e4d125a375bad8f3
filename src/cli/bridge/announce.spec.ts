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

it.each([
  ["http://0.0.0.0:8000/mcp", [], "http://localhost:8000/mcp"],
  ["http://[::]:8000/mcp", [], "http://localhost:8000/mcp"],
  ["http://0.0.0.0:8000/mcp", ["*.example.com", "mcp.example.com"], "http://mcp.example.com:8000/mcp"],
  ["http://10.0.0.5:8000/mcp", ["mcp.example.com"], "http://mcp.example.com:8000/mcp"],
  ["http://10.0.0.5:8000/mcp", [], "http://10.0.0.5:8000/mcp"],
  ["http://127.0.0.1:80/mcp", ["mcp.example.com"], "http://127.0.0.1:80/mcp"],
])("a client of %s, where %j are allowed, gets the URL %s", (address, hosts, url) => {
  const lines = announcement({ name: "it", addresses: [{ wire: "http", address }], hosts, client: undefined, keyed: false });
  expect(lines).toContain(`  Streamable HTTP  ${address}`);
  expect(lines.at(-1)).toBe(`  "it": {"type":"http","url":"${url}"}`);
});

it("has nothing to paste for a Unix socket", () => {
  const addresses = [{ wire: "http", address: "http+unix:/run/mcp.sock" }];
  const lines = announcement({ name: "it", addresses, client: undefined, keyed: false });
  expect(lines).toEqual(["it is now at", "  Streamable HTTP  http+unix:/run/mcp.sock"]);
});

it.each(["ws://127.0.0.1:8000/mcp", "grpc://127.0.0.1:8000", "http+unix:/run/mcp.sock"])(
  "says that there is no snippet for %s",
  (address) => {
    const wire = address.startsWith("http") ? "http" : address.replace(/:.*/, "");
    const lines = announcement({ name: "it", addresses: [{ wire, address }], client: "claude", keyed: false });
    expect(lines.at(-1)).toMatch(/^No snippet for claude: it connects over HTTP\. Listen at http:\/\//);
    expect(announcement({ name: "it", addresses: [{ wire, address }], client: "none", keyed: false })).toHaveLength(2);
  },
);
