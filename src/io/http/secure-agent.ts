import { Agent, type AgentOptions } from "node:https";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { fixedTimeouts } from "../../core/index.js";
import { KEPT_CONNECTIONS, MOST_CONNECTIONS, UNSAID_MS, URGENT_CONNECTIONS } from "../http1/connections.js";

/** The connections to one server with TLS that does not offer HTTP/2. The first request gets the one on which that was found out. */
export class SecureAgent extends Agent {
  readonly #urgent: Agent;
  #first: TLSSocket | undefined;

  constructor(context: AgentOptions, first: TLSSocket) {
    // Without a time of its own, an agent also ignores what the server says about its connections.
    const kept = { ...context, keepAlive: true, keepAliveMsecs: fixedTimeouts.tcpKeepAliveMs, timeout: UNSAID_MS };
    super({ ...kept, maxSockets: MOST_CONNECTIONS, maxFreeSockets: KEPT_CONNECTIONS });
    this.#urgent = new Agent({ ...kept, maxSockets: URGENT_CONNECTIONS });
    this.#first = first;
  }

  /** Where a request gets its connection. An urgent one has others if calls have all of these. */
  agentFor(urgent: boolean): Agent {
    const busy = (): boolean => Object.values(this.sockets).some((sockets) => (sockets?.length ?? 0) >= MOST_CONNECTIONS);
    return urgent && busy() ? this.#urgent : this;
  }

  override createConnection(...args: Parameters<Agent["createConnection"]>): Duplex | null | undefined {
    const first = this.#first;
    this.#first = undefined;
    return first === undefined || first.destroyed ? super.createConnection(...args) : first;
  }

  override destroy(): void {
    this.#first?.destroy();
    this.#urgent.destroy();
    super.destroy();
  }
}
