import { clientCapabilities, connect, type Era, serve, wireFor } from "../../src/api/index.js";
import { contractService } from "../../src/contract/index.js";
import { keepsContract } from "./pairs.js";

let count = 0;

// A service that was dialed is a service like any other: listening with it joins any two eras, with nothing made for the pair.
for (const front of ["legacy", "modern"] as const satisfies readonly Era[]) {
  for (const back of ["legacy", "modern"] as const satisfies readonly Era[]) {
    keepsContract(`relay: ${front} client, ${back} server`, {
      async open(options = {}) {
        const [near, far] = [`memory:near-${++count}`, `memory:far-${count}`];
        const server = await serve(contractService(), far, { eras: [back] });
        const wire = await wireFor(far);
        const link = await wire.dial(far, { era: back, client: { capabilities: clientCapabilities(options, back) } });
        const relay = await serve(link, near, { eras: [front] });
        const client = await connect(near, { ...options, era: front });
        void client.closed.then(async () => {
          await relay.close();
          await link.close();
          await server.close();
        });
        return client;
      },
    });
  }
}
