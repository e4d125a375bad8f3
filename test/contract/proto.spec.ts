import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, serve } from "../../src/api/index.js";
import { contractService } from "../../src/contract/index.js";
import { programFile } from "../support/programs.js";
import { keepsContract, type Pair, pairs } from "./pairs.js";

const server = programFile(new URL("../fixtures/contract-server.mjs", import.meta.url));

function listening(name: string, address: () => string, { era, eras }: Pair): void {
  keepsContract(name, {
    async open(options) {
      const listener = await serve(contractService(), address(), { eras });
      const client = await connect(listener.address, { ...options, era, jsonToo: false });
      void client.closed.then(() => listener.close());
      return client;
    },
  });
}

for (const pair of pairs) listening(`proto+tcp: ${pair.name}`, () => "proto+tcp://127.0.0.1:0", pair);
for (const pair of pairs.slice(0, 2)) listening(`proto+ws: ${pair.name}`, () => "proto+ws://127.0.0.1:0", pair);
for (const pair of pairs.slice(0, 2)) listening(`proto+grpc: ${pair.name}`, () => "proto+grpc://127.0.0.1:0", pair);
// The same wire on other carriers, of which starting a process for each check is slow.
for (const pair of pairs.slice(1, 2)) {
  listening(`proto+unix: ${pair.name}`, () => `proto+unix:${join(tmpdir(), `${randomUUID()}.sock`)}`, pair);
  const { name, era, eras } = pair;
  keepsContract(`proto+stdio: ${name}`, {
    open: (options) =>
      connect(
        { command: process.execPath, args: [server, "proto+stdio:", ...eras], speaks: "proto+stdio" },
        { ...options, era, jsonToo: false },
      ),
  });
}
