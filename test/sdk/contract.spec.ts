import { clientCapabilities, connect, createClient, type Era, serve } from "../../src/api/index.js";
import { contractService } from "../../src/contract/index.js";
import { dialLink, serveLink } from "../../src/era/index.js";
import { clientTransport, type SdkServer, sdkService } from "../../src/sdk/index.js";
import { keepsContract } from "../contract/pairs.js";
import { transportLink } from "./transport-link.js";

const eras = ["legacy", "modern"] as const satisfies readonly Era[];
let count = 0;

// The transport that a client of the SDK gets, used by Anywire's own.
for (const era of eras) {
  keepsContract(`a client's transport: ${era}`, {
    async open(options = {}) {
      const link = await transportLink(clientTransport(contractService()));
      return createClient(await dialLink(link, { era, client: { capabilities: clientCapabilities(options, era) } }), options);
    },
  });
}

/** What the SDK's servers are to Anywire: something that connects to a transport. */
function server(): SdkServer {
  let close = async (): Promise<void> => {};
  return {
    async connect(transport) {
      const link = await transportLink(transport);
      close = () => link.close();
      void serveLink(contractService(), link, { eras: ["legacy"] });
    },
    close: () => close(),
  };
}

for (const era of eras) {
  keepsContract(`a service over servers: ${era} client`, {
    async open(options = {}) {
      const address = `memory:sdk-contract-${++count}`;
      const service = sdkService(server);
      const listener = await serve(service, address);
      const client = await connect(address, { ...options, era });
      void client.closed.then(async () => {
        await listener.close();
        await service.close();
      });
      return client;
    },
  });
}
