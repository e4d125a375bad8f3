import { connect, serve } from "../../src/api/index.js";
import { contractService } from "../../src/contract/index.js";
import { keepsContract, pairs } from "../contract/pairs.js";
import { authority } from "../fixtures/certificates.js";

const root = authority();
const tls = root.issue("127.0.0.1");

// Over TLS our client and listener agree on HTTP/2: another way through much of both.
for (const { name, era, eras } of pairs.slice(0, 2)) {
  keepsContract(`https: ${name}`, {
    async open(options) {
      const listener = await serve(contractService(), "https://127.0.0.1:0/mcp", { eras, tls });
      const client = await connect(listener.address, { ...options, era, tls: { ca: root.cert } });
      void client.closed.then(() => listener.close());
      return client;
    },
  });
}
