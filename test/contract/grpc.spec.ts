import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, serve } from "../../src/api/index.js";
import { contractService } from "../../src/contract/index.js";
import { programFile } from "../support/programs.js";
import { keepsContract, type Pair, pairs } from "./pairs.js";

const server = programFile(new URL("../fixtures/contract-server.mjs", import.meta.url));

function networked(
  name: string,
  address: () => string,
  { era, eras }: Pair,
  more: { readonly calls?: "rpc"; readonly http2?: "node" } = {},
): void {
  keepsContract(name, {
    async open(options) {
      const listener = await serve(contractService(), address(), { eras });
      const client = await connect(listener.address, { ...options, ...more, era });
      void client.closed.then(() => listener.close());
      return client;
    },
  });
}

for (const pair of pairs) networked(`grpc: ${pair.name}`, () => "grpc://127.0.0.1:0", pair);
// The same edge behind other frames: each era once.
for (const pair of pairs.slice(0, 2)) {
  networked(`grpc, calls as RPCs: ${pair.name}`, () => "grpc://127.0.0.1:0", pair, { calls: "rpc" });
  networked(`grpc, node:http2: ${pair.name}`, () => "grpc://127.0.0.1:0", pair, { http2: "node" });
  networked(`grpc, node:http2, calls as RPCs: ${pair.name}`, () => "grpc://127.0.0.1:0", pair, { http2: "node", calls: "rpc" });
  networked(`tunnel+grpc: ${pair.name}`, () => "tunnel+grpc://127.0.0.1:0", pair);
  networked(`grpc+unix: ${pair.name}`, () => `grpc+unix:${join(tmpdir(), `${randomUUID()}.sock`)}`, pair);
  const { name, era, eras } = pair;
  keepsContract(`grpc+stdio: ${name}`, {
    open: (options) =>
      connect({ command: process.execPath, args: [server, "grpc+stdio:", ...eras], speaks: "grpc+stdio" }, { ...options, era }),
  });
}
