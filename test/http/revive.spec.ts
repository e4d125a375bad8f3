import { createServer as createHttp } from "node:http";
import { expect, it, vi } from "vitest";
import { connect, createServer, type Listener, type ListenOptions, type McpClient, type Server, serve } from "../../src/api/index.js";
import { nodeHandler } from "../../src/wires/http/index.js";
import { patience } from "../fixtures/children/index.js";

function made(): Server {
  return createServer({ name: "kept", version: "1" })
    .resource({ name: "live", uri: "test://live" }, () => "live")
    .resource({ name: "other", uri: "test://other" }, () => "other")
    .tool("echo", {}, (args) => ({ content: [], structuredContent: args }));
}

const port = (listener: Listener): string => new URL(listener.address).port;

/** The same server with none of its sessions, as after a restart. */
async function restarted(server: Server, listener: Listener, options: ListenOptions = {}): ReturnType<typeof serve> {
  const at = port(listener);
  await listener.close();
  return serve(server, `http://127.0.0.1:${at}/mcp`, options);
}

async function subscribed(client: McpClient): Promise<string[]> {
  const heard: string[] = [];
  const stream = client.listen({ resourceSubscriptions: ["test://live"], toolsListChanged: true });
  await stream.next();
  void (async () => {
    for await (const { method, params } of stream)
      heard.push(`${method.slice("notifications/".length)} ${String(params["uri"] ?? "")}`.trim());
  })().catch(() => {});
  return heard;
}

it("a session that begins anew keeps its subscriptions", async () => {
  const server = made();
  let listener = await serve(server, "http://127.0.0.1:0/mcp", { eras: ["legacy"] });
  const client = await connect(listener.address);
  const heard = await subscribed(client);
  server.updated("test://live");
  await vi.waitFor(() => expect(heard).toEqual(["resources/updated test://live"]), patience);

  listener = await restarted(server, listener, { eras: ["legacy"] });
  // The first may meet a connection that the old server has just closed: what may have run is not sent again.
  await vi.waitFor(async () => expect((await client.callTool("echo", { a: 1 })).structuredContent).toEqual({ a: 1 }), patience);
  // Something may have happened while nobody listened.
  await vi.waitFor(() => expect(heard.slice(1)).toEqual(["tools/list_changed", "resources/updated test://live"]), patience);
  server.updated("test://other");
  server.updated("test://live");
  server.changed("tools");
  await vi.waitFor(() => expect(heard.slice(3).sort()).toEqual(["resources/updated test://live", "tools/list_changed"]), patience);
  await client.close();
  await listener.close();
});

it("a client that only listens goes on after its server was restarted", async () => {
  const server = made();
  let listener = await serve(server, "http://127.0.0.1:0/mcp", { eras: ["legacy"] });
  const client = await connect(listener.address);
  const heard = await subscribed(client);
  server.updated("test://live");
  await vi.waitFor(() => expect(heard).toHaveLength(1), patience);
  listener = await restarted(server, listener, { eras: ["legacy"] });
  // Not one call is made: what listens finds out by itself.
  await vi.waitFor(() => expect(heard).toHaveLength(3), patience);
  server.updated("test://live");
  await vi.waitFor(() => expect(heard).toHaveLength(4), patience);
  await client.close();
  await listener.close();
});

it("what was unsubscribed from is not subscribed to again, and the level is", async () => {
  const told: string[] = [];
  const server = made();
  const listener = await serve(server, "http://127.0.0.1:0/mcp", { eras: ["legacy"] });
  const client = await connect(listener.address);
  const stream = client.listen({ resourceSubscriptions: ["test://other"] });
  await stream.next();
  await stream.return();
  const heard = await subscribed(client);
  await client.callTool("echo", {}, { logLevel: "error", onLog: () => {} });
  await listener.close();
  const handler = nodeHandler(server, { eras: ["legacy"] });
  const host = createHttp(async (request, response) => {
    const chunks: Buffer[] = [];
    if (request.method === "POST") for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const { method, params } = (text === "" ? {} : JSON.parse(text)) as { method?: string; params?: { uri?: string; level?: string } };
    if (method !== undefined) told.push([method, params?.uri ?? params?.level].filter(Boolean).join(" "));
    handler(Object.assign(request, { body: text }), response);
  });
  await new Promise<void>((resolve) => host.listen(Number(port(listener)), "127.0.0.1", resolve));
  await vi.waitFor(() => client.callTool("echo"), patience);
  await vi.waitFor(() => expect(heard).toEqual(["tools/list_changed", "resources/updated test://live"]), patience);
  expect(told.filter((line) => /setLevel|subscribe/.test(line))).toEqual(["logging/setLevel error", "resources/subscribe test://live"]);
  await client.close();
  handler.close();
  host.closeAllConnections();
  await new Promise((resolve) => host.close(resolve));
});
