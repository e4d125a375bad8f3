import { connect, serve } from "../../src/api/index.js";
import { contractService } from "../../src/contract/index.js";
import { keepsContract, pairs } from "./pairs.js";

for (const { name, era, eras } of pairs) {
  keepsContract(`http: ${name}`, {
    async open(options) {
      const listener = await serve(contractService(), "http://127.0.0.1:0/mcp", { eras });
      const client = await connect(listener.address, { ...options, era });
      void client.closed.then(() => listener.close());
      return client;
    },
  });
}
