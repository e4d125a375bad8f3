import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, serve } from "../../src/api/index.js";
import { contractService } from "../../src/contract/index.js";
import { keepsContract, type Pair, pairs } from "./pairs.js";

const socket = (): string => join(tmpdir(), `${randomUUID()}.sock`);

function listening(name: string, address: () => string, { era, eras }: Pair): void {
  keepsContract(name, {
    async open(options) {
      const listener = await serve(contractService(), address(), { eras });
      const client = await connect(listener.address, { ...options, era });
      void client.closed.then(() => listener.close());
      return client;
    },
  });
}

for (const pair of pairs) listening(`tcp: ${pair.name}`, () => "tcp://127.0.0.1:0", pair);
// The same wires on another carrier: each era once.
for (const pair of pairs.slice(0, 2)) {
  listening(`unix: ${pair.name}`, () => `unix:${socket()}`, pair);
  listening(`http+unix: ${pair.name}`, () => `http+unix:${socket()}`, pair);
}
