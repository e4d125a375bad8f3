import { expect, it } from "vitest";
import { checkMirror, withMirror } from "./mirror.js";

const mirrored = (name: string) => withMirror({}, "tools/call", { name }, undefined)["mcp-name"];

it("mirrors a name as text, or in base64", () => {
  expect([mirrored("echo"), mirrored("übel"), mirrored(" x")]).toEqual(["echo", "=?base64?w7xiZWw=?=", "=?base64?IHg=?="]);
});

it("leaves out a name that is longer than the headers that proxies take, which the server allows", () => {
  expect(mirrored("x".repeat(2048))).toBe("x".repeat(2048));
  const params = { name: "x".repeat(2049) };
  const metadata = withMirror({}, "tools/call", params, undefined);
  expect(metadata).toEqual({ "mcp-method": "tools/call" });
  checkMirror(metadata, "tools/call", params);
});
