import { fork } from "node:child_process";
import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tokenStore } from "../../src/oauth/index.js";
import { root, scratch } from "../cli/support.js";

const script = `
import { tokenStore } from ${JSON.stringify(join(root, "dist/oauth/index.js"))};
const store = tokenStore(process.argv[2]);
for (let n = 0; n < 20; n++) await store.put("https://h/" + process.argv[3] + "/" + n, { issuer: "https://as" });
`;

it("loses no token where several processes write the file at once", { timeout: 60_000 }, async () => {
  const folder = scratch();
  const path = join(folder, "tokens.json");
  const file = join(folder, "writer.mjs");
  writeFileSync(file, script);
  const codes = await Promise.all(
    [1, 2, 3].map((n) => new Promise((resolve) => fork(file, [path, String(n)]).once("exit", (code) => resolve(code)))),
  );
  expect(codes).toEqual([0, 0, 0]);
  const { servers } = JSON.parse(readFileSync(path, "utf8")) as { servers: object };
  expect(Object.keys(servers)).toHaveLength(60);
});

it("takes over the lock of a process that has died", async () => {
  const path = join(scratch(), "tokens.json");
  writeFileSync(`${path}.lock`, "dead");
  const long = new Date(Date.now() - 60_000);
  utimesSync(`${path}.lock`, long, long);
  await tokenStore(path).put("https://h/", { issuer: "https://as" });
  expect(await tokenStore(path).get("https://h/")).toEqual({ issuer: "https://as" });
});
