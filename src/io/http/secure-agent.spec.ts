import { Agent } from "node:https";
import { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { expect, it } from "vitest";
import { MOST_CONNECTIONS } from "../http1/connections.js";
import { SecureAgent } from "./secure-agent.js";

it("has connections of their own for urgent requests, once calls have all the others", () => {
  const first = new TLSSocket(new Socket());
  const agent = new SecureAgent({}, first);
  Object.assign(agent.sockets, { "host:443": Array.from({ length: MOST_CONNECTIONS - 1 }, () => first) });
  expect(agent.agentFor(true)).toBe(agent);
  agent.sockets["host:443"]?.push(first);
  expect(agent.agentFor(false)).toBe(agent);
  expect(agent.agentFor(true)).not.toBe(agent);
  expect(agent.agentFor(true)).toBeInstanceOf(Agent);
  agent.destroy();
});
