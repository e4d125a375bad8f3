import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { expect, it } from "vitest";
import { connect, serve } from "../../src/api/index.js";
import { GrpcClientTransport, GrpcServerTransport, sdkService, serveSdk } from "../../src/sdk/index.js";
import { labV1, labV2, newRecord } from "../fixtures/sdk/lab.mjs";
import { type LabClient, type LabClientOptions, openV1, openV2 } from "./clients.js";
import { labSuite } from "./suite.js";

type Open = (address: string, options?: LabClientOptions) => Promise<LabClient>;

const clients: Record<string, Open> = {
  v1: (address, options) => openV1(new GrpcClientTransport(address), options),
  "v2 legacy": (address, options) => openV2("legacy")(new GrpcClientTransport(address), options),
  "v2 modern": (address, options) => openV2({ pin: "2026-07-28" })(new GrpcClientTransport(address), options),
};

/** Each make in both roles and both eras. */
for (const [client, server] of [
  ["v1", "v2"],
  ["v2 legacy", "v1"],
  ["v2 modern", "v2"],
] as const) {
  const modern = client === "v2 modern";
  labSuite(`grpc: ${client} client, ${server} server`, {
    modern,
    quits: true,
    pushes: server === "v1" || !modern,
    async open(options) {
      const record = newRecord();
      const service = server === "v1" ? sdkService(() => labV1(record)) : sdkService(labV2());
      const listener = await serve(service, "grpc://127.0.0.1:0", { drainMs: 100 });
      const opened = await (clients[client] as Open)(listener.address, options);
      void opened.closed.then(async () => {
        await listener.close();
        await service.close();
      });
      return opened;
    },
  });
}

for (const [make, server] of [
  ["v1", () => labV1(newRecord())],
  ["v2", () => labV2()({ era: "legacy" })],
] as const)
  it(`server.connect(new GrpcServerTransport(…)) serves a ${make} server, to one client after another`, async () => {
    const made = await server();
    const transport = new GrpcServerTransport("grpc://127.0.0.1:0", { drainMs: 100 });
    await made.connect(transport);
    for (const sdk of [ClientV1, ClientV2]) {
      const client = new sdk({ name: "caller", version: "1" });
      await client.connect(new GrpcClientTransport(transport.address as string));
      expect((await client.callTool({ name: "echo", arguments: { text: "hi" } })).structuredContent).toEqual({ text: "hi" });
      await client.close();
    }
    await made.close();
    await expect(connect(transport.address as string, { handshakeMs: 2_000 })).rejects.toMatchObject({ code: "unavailable" });
  });

it("serveSdk serves many clients at a time over gRPC", async () => {
  const listener = await serveSdk(labV2(), "grpc://127.0.0.1:0", { drainMs: 100 });
  const opened = await Promise.all(["a", "b", "c"].map(() => connect(listener.address)));
  expect(await Promise.all(opened.map(async (client, at) => (await client.callTool("echo", { at })).structuredContent))).toEqual([
    { at: 0 },
    { at: 1 },
    { at: 2 },
  ]);
  await Promise.all(opened.map((client) => client.close()));
  await listener.close();
});
