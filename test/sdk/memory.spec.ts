import * as api from "../../src/api/index.js";
import { clientTransport, sdkService } from "../../src/sdk/index.js";
import { labAnywire, labV1, labV2, newRecord } from "../fixtures/sdk/lab.mjs";
import { openAnywire } from "./anywire-client.js";
import { type LabClient, type LabClientOptions, openV1, openV2 } from "./clients.js";
import { labSuite } from "./suite.js";

const servers: Record<string, () => api.Service & { close(): void | Promise<void> }> = {
  anywire: () => labAnywire(api),
  v1: () => {
    const record = newRecord();
    return sdkService(() => labV1(record));
  },
  v2: () => sdkService(labV2()),
};

type Open = (address: string, options?: LabClientOptions) => Promise<LabClient>;

const clients: Record<string, Open> = {
  "anywire legacy": (address, options) => openAnywire("legacy", address, options),
  "anywire modern": (address, options) => openAnywire("modern", address, options),
  v1: (address, options) => openV1(clientTransport(address), options),
  "v2 legacy": (address, options) => openV2("legacy")(clientTransport(address), options),
  "v2 modern": (address, options) => openV2({ pin: "2026-07-28" })(clientTransport(address), options),
};

let count = 0;

for (const [server, make] of Object.entries(servers)) {
  for (const [client, open] of Object.entries(clients)) {
    if (server === "anywire" && client.startsWith("anywire")) continue;
    const modern = client.endsWith("modern");
    labSuite(`memory: ${client} client, ${server} server`, {
      modern,
      quits: server !== "anywire",
      // A modern server of the SDK has no way to ask in the middle of a call.
      pushes: server === "v1" || (server === "v2" && !modern),
      async open(options) {
        const address = `memory:sdk-${++count}`;
        const service = make();
        const listener = await api.serve(service, address);
        const opened = await open(address, options);
        void opened.closed.then(async () => {
          await listener.close();
          await service.close();
        });
        return opened;
      },
    });
  }
}
