import { expect, it } from "vitest";
import { unixPath } from "./port/place.js";
import { startFault } from "./start-fault.js";

it.each(["unix:", "http+unix:", "grpc+unix:", "proto+unix:", "any+unix:"])("%s is refused on Windows", (scheme) => {
  expect(unixPath(`${scheme}/tmp/socket`, "linux")).toBe("/tmp/socket");
  expect(() => unixPath(`${scheme}/tmp/socket`, "win32")).toThrow("Unix sockets are not supported on Windows");
  expect(unixPath("tcp://127.0.0.1:8000", "win32")).toBeUndefined();
});

it.each(["unix:", "unix://", "http+unix:"])("%s needs a path that a socket can have", (scheme) => {
  expect(() => unixPath(scheme, "linux")).toThrow(`${scheme} names no socket: give its path`);
  const longest = `/${"x".repeat(106)}`;
  expect(unixPath(`${scheme}${longest}`, "linux")).toBe(longest);
  expect(() => unixPath(`${scheme}${longest}`, "darwin")).toThrow("can have 103 bytes, this one has 107");
  expect(() => unixPath(`${scheme}${longest}x`, "linux")).toThrow("can have 107 bytes, this one has 108");
  expect(() => unixPath(`${scheme}/${"ü".repeat(54)}`, "linux")).toThrow("this one has 109");
});

it("a .cmd file that does not start on Windows is called one", async () => {
  expect(await startFault({ command: "npx" }, "ENOENT", "win32")).toMatchObject({ message: expect.stringContaining(".cmd") });
  expect(await startFault({ command: "serve.cmd" }, "EINVAL", "win32")).toMatchObject({ message: expect.stringContaining(".cmd") });
  expect(await startFault({ command: "missing" }, "ENOENT", "win32")).toMatchObject({
    message: "cannot start `missing`: command not found",
  });
  expect(await startFault({ command: "npx" }, "ENOENT", "linux")).toMatchObject({ message: "cannot start `npx`: command not found" });
});
