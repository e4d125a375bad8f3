import { connect, serve } from "../../src/api/index.js";
import { contractService } from "../../src/contract/index.js";
import { keepsContract, pairs } from "./pairs.js";

for (const scheme of ["grpc", "tunnel+grpc"]) {
  for (const { name, era, eras } of pairs) {
    keepsContract(`${scheme}: ${name}`, {
      async open(options) {
        const listener = await serve(contractService(), `${scheme}://127.0.0.1:0`, { eras });
        const client = await connect(listener.address, { ...options, era });
        void client.closed.then(() => listener.close());
        return client;
      },
    });
  }
}
