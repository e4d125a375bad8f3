import { describe, expect, it, vi } from "vitest";
import { bridge } from "../../src/bridge/index.js";
import { alive, patience } from "../fixtures/children/index.js";
import { type RawName, rawWires } from "../relay/raw/wires.js";
import { Ledger } from "./support.js";

const addresses: Readonly<Partial<Record<RawName, string>>> = {
  sse: "http://127.0.0.1:0/sse",
  ws: "ws://127.0.0.1:0/mcp",
  tcp: "tcp://127.0.0.1:0",
  grpc: "grpc://127.0.0.1:0",
  tunnel: "tunnel+grpc://127.0.0.1:0",
  proto: "proto+tcp://127.0.0.1:0",
};

describe.each(Object.entries(addresses) as [RawName, string][])("%s", (name, address) => {
  it("ends the process of a client whose stream ends, with its call in flight", { timeout: 30_000 }, async () => {
    const ledger = new Ledger();
    await using made = await bridge({ listen: ["any://127.0.0.1:0"], to: ledger.command, onStderr: () => {} });
    const port = /:(\d+)/.exec(String(made.listeners[0]?.address))?.[1];
    const heard: string[] = [];
    const say = (id: number | undefined, method: string, params: object): string =>
      JSON.stringify({ jsonrpc: "2.0", ...(id !== undefined && { id }), method, params });
    const peer = await rawWires[name].client(address.replace(":0", `:${port}`), "legacy", (text) => heard.push(text));
    const begin = { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, clientInfo: { name: "raw", version: "1" } };
    peer.send(say(1, "initialize", begin));
    await vi.waitFor(() => expect(heard.join()).toContain("serverInfo"), patience);
    peer.send(say(undefined, "notifications/initialized", {}));
    peer.send(say(2, "tools/call", { name: "hang", arguments: {} }));
    await vi.waitFor(() => expect(ledger.count("tools/call hang")).toBe(1), patience);
    expect(ledger.pids.filter(alive)).toHaveLength(2);
    await peer.close();
    await vi.waitFor(() => expect(ledger.pids.filter(alive)).toHaveLength(1), patience);
    expect(made.upstream.sessions).toBe(1);
    expect(ledger.count("tools/call hang")).toBe(1);
  });
});
