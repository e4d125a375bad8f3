import { describe, expect, it } from "vitest";
import { netrcPassword } from "./credentials.js";
import { parseReference } from "./reference.js";

describe("a reference", () => {
  it.each([
    ["buf.build/acme/tools/acme.tools.v1.WebSearchRequest:v1", ["buf.build", "acme", "tools", "acme.tools.v1.WebSearchRequest", "v1"]],
    [
      "buf.build/buf/stdlib/buf.mcp.tools.v1.FileReadRequest:v1.2.3",
      ["buf.build", "buf", "stdlib", "buf.mcp.tools.v1.FileReadRequest", "v1.2.3"],
    ],
    ["buf.build/acme/tools/web_search:v1", ["buf.build", "acme", "tools", "web_search", "v1"]],
    ["buf.build/acme/tools/web-search:feature/x", ["buf.build", "acme", "tools", "web-search", "feature/x"]],
    ["BSR.example.com:8443/a1/b_2/M", ["bsr.example.com:8443", "a1", "b_2", "M", undefined]],
    [
      "127.0.0.1:4000/acme/tools/acme.v1.M:0123456789abcdef0123456789abcdef",
      ["127.0.0.1:4000", "acme", "tools", "acme.v1.M", "0123456789abcdef0123456789abcdef"],
    ],
  ])("is taken apart: %s", (text, parts) => {
    const { registry, owner, repository, symbol, version } = parseReference(text);
    expect([registry, owner, repository, symbol, version]).toEqual(parts);
  });

  it.each([
    "",
    "buf.build",
    "buf.build/acme/tools",
    "buf.build/acme/tools/",
    "buf.build/acme/tools/:v1",
    "buf.build/acme/tools/a..b:v1",
    "buf.build/acme/tools/Message:",
    "buf.build/acme/tools/Message:v1 v2",
    "buf.build/../etc/passwd:v1",
    "buf.build/acme/..%2f/x:v1",
    "https://buf.build/acme/tools/M:v1",
    "user:password@buf.build/acme/tools/M:v1",
    "buf.build/acme/tools/M/../../x:v1",
    "buf.build\r\nx/acme/tools/M:v1",
    `buf.build/acme/tools/${"M".repeat(2_000)}:v1`,
  ])("is refused with the code of the text: %s", (text) => {
    expect(() => parseReference(text)).toThrow(
      expect.objectContaining({
        code: "invalid-params",
        rpcCode: -33000,
        data: { reason: "reference" },
        message: expect.stringMatching(/is no reference/),
      }),
    );
  });
});

describe("a .netrc", () => {
  const text = `# machine buf.build password no
machine other.example login me password "not this"
macdef init
machine buf.build password macro

machine buf.build
  login me
  password s3cret
default login anonymous password guest
`;

  it("gives the password of its machine, and no other", () => {
    expect(netrcPassword(text, "buf.build")).toBe("s3cret");
    expect(netrcPassword(text, "other.example")).toBe("not this");
    expect(netrcPassword(text, "elsewhere.example")).toBeUndefined();
    expect(netrcPassword("machine", "buf.build")).toBeUndefined();
    expect(netrcPassword("machine buf.build login password password x", "buf.build")).toBe("x");
  });
});
