import { connect, type Era, serve } from "../../src/api/index.js";
import { bridge } from "../../src/bridge/index.js";
import { contractService } from "../../src/contract/index.js";
import { keepsContract } from "./pairs.js";

let count = 0;
const eras: readonly (readonly [Era, Era])[] = [
  ["legacy", "modern"],
  ["modern", "legacy"],
];

// Where the eras differ a bridge does most. `npm run matrix` has every wire and pair of eras.
for (const [front, back] of eras) {
  keepsContract(`bridge: ${front} client, ${back} server`, {
    async open(options = {}) {
      const [near, far] = [`memory:before-${++count}`, `memory:behind-${count}`];
      const server = await serve(contractService(), far, { eras: [back] });
      const made = await bridge({ listen: [near], to: far, dial: { era: back }, serve: { eras: [front] } });
      const client = await connect(near, { ...options, era: front });
      void client.closed.then(async () => {
        await made.close();
        await server.close();
      });
      return client;
    },
  });
}
