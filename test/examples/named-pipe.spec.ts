import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, serve } from "anywire";
import { contractService } from "anywire/contract";
import { namedPipe } from "../../examples/custom-wire/named-pipe.js";
import { keepsContract, pairs } from "../contract/pairs.js";

const wires = [namedPipe];

// Nothing of the package was changed for it: a file of its own, and the option `wires`.
for (const { name, era, eras } of pairs.slice(0, 2)) {
  keepsContract(`lines on a named pipe, from outside the package: ${name}`, {
    async open(options) {
      const listener = await serve(contractService(), `fifo:${join(tmpdir(), randomUUID())}`, { wires, eras });
      const client = await connect(listener.address, { ...options, wires, era });
      void client.closed.then(() => listener.close());
      return client;
    },
  });
}
