import { McpServer } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import { Caller } from "../../src/core/index.js";
import { labV1, labV2 } from "../fixtures/sdk/lab.mjs";
import { lab, opened } from "./service-lab.js";

describe("what a handler knows of its caller", () => {
  it("is the principal, and its token if the edge kept it", async () => {
    for (const [factory, era] of [
      [() => labV1(), "legacy"],
      [() => labV1(), "modern"],
      [labV2(), "legacy"],
      [labV2(), "modern"],
    ] as const) {
      const inner = opened(factory);
      // An edge that verified its caller.
      const known = <C extends { client: object; metadata: object }>(context: C): C => ({
        ...context,
        client: { ...context.client, identity: new Caller({ principal: "alice" }) },
        metadata: { authorization: "Bearer t0k3n" },
      });
      const open = await lab({
        call: (request, context) => inner.call(request, known(context)),
        notify: (notification, context) => inner.notify(notification, known(context)),
      });
      const client = await open({ era });
      const { structuredContent } = await client.callTool("whoami", {}, { meta: { "com.example/kept": 1 } });
      expect(structuredContent).toMatchObject({ auth: { clientId: "alice", token: "t0k3n", scopes: [] } });
    }
  });

  it("is what the factory was told, for each principal a server of its own", async () => {
    for (const era of ["legacy", "modern"] as const) {
      const inner = opened(({ authInfo }) => {
        const server = new McpServer({ name: "tenant", version: "1" });
        server.registerTool("tenant", {}, () => ({ content: [{ type: "text", text: String(authInfo?.clientId) }] }));
        return server;
      });
      const names = ["alice", "bob", "carol", "alice", "bob"];
      const clients = await Promise.all(
        names.map(async (principal) => {
          const identity = new Caller({ principal });
          const known = <C extends { client: object }>(context: C): C => ({ ...context, client: { ...context.client, identity } });
          const open = await lab({
            call: (request, context) => inner.call(request, known(context)),
            notify: (notification, context) => inner.notify(notification, known(context)),
          });
          return open({ era });
        }),
      );
      const told = await Promise.all(clients.map(async (client) => (await client.callTool("tenant")).content));
      expect(told).toEqual(names.map((text) => [{ type: "text", text }]));
    }
  });

  it("is nothing where nobody verified it, or what the option makes of it", async () => {
    const open = await lab(opened(labV2()));
    expect((await (await open({ era: "modern" })).callTool("whoami")).structuredContent).toMatchObject({ auth: null });
    const authInfo = { token: "", clientId: "me", scopes: ["all"], extra: { a: [1] } };
    const other = await lab(opened(labV2(), { authInfo: () => authInfo }));
    expect((await (await other({ era: "modern" })).callTool("whoami")).structuredContent).toMatchObject({ auth: authInfo });
  });
});
