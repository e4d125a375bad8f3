import { fileURLToPath } from "node:url";
import type { Command } from "../../src/api/index.js";
import { clientTransport } from "../../src/sdk/index.js";
import { openAnywire } from "./anywire-client.js";
import { type LabClient, type LabClientOptions, openV1, openV2 } from "./clients.js";
import { labSuite } from "./suite.js";

const script = (name: string): string => fileURLToPath(new URL(`../fixtures/sdk/${name}.mjs`, import.meta.url));

/** Served by Anywire, and by the SDK's own stdio transports. */
const servers = { through: script("lab-server"), native: script("lab-native") };

type Open = (command: Command, options?: LabClientOptions) => Promise<LabClient>;

const clients: Record<string, Open> = {
  "anywire legacy": (command, options) => openAnywire("legacy", command, options),
  "anywire modern": (command, options) => openAnywire("modern", command, options),
  v1: (command, options) => openV1(clientTransport(command), options),
  "v2 legacy": (command, options) => openV2("legacy")(clientTransport(command), options),
  "v2 auto": (command, options) => openV2("auto")(clientTransport(command), options),
};

/** Not every pair: each client and each server is there in both roles. */
const pairs: readonly (readonly [client: string, server: "v1" | "v2" | "anywire", served: keyof typeof servers])[] = [
  ["anywire legacy", "v1", "through"],
  ["anywire modern", "v2", "through"],
  ["v1", "v2", "through"],
  ["v2 legacy", "anywire", "through"],
  ["v2 auto", "v2", "through"],
  ["v2 auto", "v2", "native"],
  ["v2 auto", "v1", "native"],
];

for (const [client, server, served] of pairs) {
  const open = clients[client] as Open;
  const modern = client === "v2 auto" || client === "anywire modern";
  labSuite(`stdio: ${client} client, ${server} server ${served === "native" ? "on the SDK's own transport" : "served by Anywire"}`, {
    shares: true,
    modern,
    quits: server !== "anywire",
    pushes: server === "v1" || (server === "v2" && !modern),
    open: (options) => open({ command: process.execPath, args: [servers[served], server] }, options),
  });
}
