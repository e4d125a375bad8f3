import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";

const wires = ["stdio:", "http+stdio:", "grpc+stdio:", "proto+stdio:"];
const api = new URL("../../dist/api/index.js", import.meta.url).href;
/** Listens on the first address, then tries each of them. */
const program = `
  import { createServer, serve } from ${JSON.stringify(api)};
  const server = createServer({ name: "fixture", version: "1" });
  const [first, ...others] = process.argv.slice(1);
  const said = [];
  await serve(server, first);
  for (const other of others) said.push(await serve(server, other).then(() => "served", ({ data }) => data.reason));
  process.stderr.write(JSON.stringify(said), () => process.exit(0));
`;

it.each(wires)("while %s is listened on, stdin and stdout are taken for every wire", async (first) => {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program, first, ...wires]);
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += String(chunk);
  });
  await once(child, "close");
  expect(said).toBe(JSON.stringify(wires.map(() => "in-use")));
});
