import { connect } from "../../src/api/index.js";
import { programFile } from "../support/programs.js";
import { keepsContract, pairs } from "./pairs.js";

const server = programFile(new URL("../fixtures/contract-server.mjs", import.meta.url));

for (const { name, era, eras } of pairs) {
  keepsContract(`stdio: ${name}`, {
    open: (options) => connect({ command: process.execPath, args: [server, "stdio:", ...eras] }, { ...options, era }),
  });
}
