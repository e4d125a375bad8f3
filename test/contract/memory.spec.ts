import { connect, serve } from "../../src/api/index.js";
import { contractService } from "../../src/contract/index.js";
import { keepsContract, pairs } from "./pairs.js";

let count = 0;

for (const { name, era, eras } of pairs) {
  keepsContract(`memory: ${name}`, {
    async open(options) {
      const address = `memory:contract-${++count}`;
      const listener = await serve(contractService(), address, { eras });
      const client = await connect(address, { ...options, era });
      void client.closed.then(() => listener.close());
      return client;
    },
  });
}
