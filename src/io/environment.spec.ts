import { expect, test } from "vitest";
import { childEnvironment } from "./environment.js";

const parent = { PATH: "/bin", LC_ALL: "C", AWS_SECRET: "s", SYSTEMROOT: "C:\\Windows", HOME: "() { :; }" };

test("the parent's environment is allowed by name", () => {
  expect(Object.entries(childEnvironment({}, parent, "linux"))).toEqual([
    ["PATH", "/bin"],
    ["LC_ALL", "C"],
  ]);
  expect(Object.entries(childEnvironment({}, parent, "win32"))).toEqual([
    ["PATH", "/bin"],
    ["SYSTEMROOT", "C:\\Windows"],
  ]);
});

test("what a command inherits or sets is added, and what it sets wins", () => {
  const env = childEnvironment({ inherit: ["AWS_SECRET", "HOME", "MISSING"], env: { PATH: "/own", NEW: "() ok" } }, parent, "linux");
  expect(Object.entries(env)).toEqual([
    ["PATH", "/own"],
    ["LC_ALL", "C"],
    ["AWS_SECRET", "s"],
    ["NEW", "() ok"],
  ]);
});
