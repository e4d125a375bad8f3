import { connect } from "../../src/api/index.js";
import { programFile } from "../support/programs.js";
import { keepsContract } from "./pairs.js";

const server = programFile(new URL("../fixtures/contract-server.mjs", import.meta.url));

keepsContract("http+stdio: modern client, server of both eras", {
  open: (options) =>
    connect({ command: process.execPath, args: [server, "http+stdio:", "legacy", "modern"], speaks: "http+stdio" }, { ...options }),
});
