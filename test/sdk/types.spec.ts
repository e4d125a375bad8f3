import { type Transport as ClientTransportV2, Client as ClientV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { Server as LowV1 } from "@modelcontextprotocol/sdk/server/index.js";
import { McpServer as ServerV1 } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { Transport as TransportV1 } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  Server as LowV2,
  type McpServerFactory,
  type Transport as ServerTransportV2,
  McpServer as ServerV2,
} from "@modelcontextprotocol/server";
import { expect, it } from "vitest";
import { createServer } from "../../src/api/index.js";
import { clientTransport, type SdkServer, type SdkTransport, sdkService } from "../../src/sdk/index.js";

const info = { name: "n", version: "1" };

it("fits the types of every version, without a cast", async () => {
  const transport: SdkTransport = clientTransport(createServer(info));
  const transports: [TransportV1, ClientTransportV2, ServerTransportV2] = [transport, transport, transport];
  expect(transports).toHaveLength(3);
  const factories: (() => SdkServer)[] = [
    () => new ServerV1(info),
    () => new ServerV2(info),
    () => new LowV1(info, {}),
    () => new LowV2(info, {}),
  ];
  const typed: McpServerFactory = ({ authInfo }) => new ServerV2({ ...info, title: authInfo?.clientId ?? "nobody" });
  for (const source of [...factories, ...factories.map((make) => make()), typed]) {
    const service = sdkService(source);
    for (const client of [new ClientV1(info), new ClientV2(info)]) {
      await client.connect(clientTransport(service));
      expect(client.getServerVersion()).toMatchObject(info);
      await client.close();
    }
    await service.close();
  }
});
