import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { connect } from "../../src/api/index.js";
import { everything } from "../interop/everything.js";
import { openBridge } from "./support.js";

const folder = dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json"));
const to = { command: process.execPath, args: [join(folder, "dist/index.js"), "stdio"] };

for (const wire of ["http", "grpc"] as const)
  everything(`a bridge on ${wire}`, async (options) => {
    const made = await openBridge([wire], { to });
    const client = await connect(made.at(wire).address, { ...options, era: "legacy" });
    void client.closed.then(() => made.close());
    return client;
  });
