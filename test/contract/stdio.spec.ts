import { fileURLToPath } from "node:url";
import { connect } from "../../src/api/index.js";
import { keepsContract, pairs } from "./pairs.js";

const server = fileURLToPath(new URL("../fixtures/contract-server.mjs", import.meta.url));

for (const { name, era, eras } of pairs) {
  keepsContract(`stdio: ${name}`, {
    open: (options) => connect({ command: process.execPath, args: [server, "stdio:", ...eras] }, { ...options, era }),
  });
}
