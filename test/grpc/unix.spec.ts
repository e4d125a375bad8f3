import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { connect, createServer, serve } from "../../src/api/index.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "anywire-unix-"));
});
afterEach(() => rm(folder, { recursive: true }));

const server = createServer({ name: "unix", version: "1.0.0" }).tool("hello", {}, () => "Hello!");

it("takes the place of a server that was killed, and leaves no socket behind itself", async () => {
  const path = join(folder, "stale.sock");
  const script = `require("node:net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
  await once(spawn(process.execPath, ["-e", script], { stdio: "ignore" }), "exit");
  expect(existsSync(path)).toBe(true);
  const listener = await serve(server, `grpc+unix:${path}`);
  const client = await connect(`grpc+unix:${path}`);
  expect((await client.callTool("hello")).content).toEqual([{ type: "text", text: "Hello!" }]);
  await client.close();
  await listener.close();
  expect(existsSync(path)).toBe(false);
});

it("leaves a server that lives, and a file that is no socket, where they are", async () => {
  const path = join(folder, "live.sock");
  await using _live = await serve(server, `grpc+unix:${path}`);
  await expect(serve(server, `grpc+unix:${path}`)).rejects.toMatchObject({ data: { reason: "address-in-use" } });
  await using client = await connect(`grpc+unix:${path}`);
  await client.ping();
  const file = join(folder, "file");
  await writeFile(file, "kept");
  await expect(serve(server, `grpc+unix:${file}`)).rejects.toMatchObject({ data: { reason: "cannot-listen" } });
  expect(existsSync(file)).toBe(true);
});
