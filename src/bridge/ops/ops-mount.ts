import { admit, type GateOptions, type Mount, nodeExchange } from "../../io/index.js";
import type { UpstreamState } from "../types.js";

export interface OpsOptions extends GateOptions {
  /** Paths that answer `ok` as long as the process runs; `/healthz` unless given. */
  readonly health?: readonly string[] | undefined;
  /** The state of the server, for `/readyz`; `upstream.check()` of a bridge also asks a remote server whether it is there. */
  readonly state: () => UpstreamState | Promise<UpstreamState>;
  /** The content of `/metrics`. Without it the path does not exist. */
  readonly metrics?: { text(): string; readonly contentType: string } | undefined;
}

/** States in which a call is worth sending. A server that starts with the first call counts as ready. */
const ready: ReadonlySet<UpstreamState> = new Set(["ready", "idle"]);

/**
 * Endpoints for operators, on the port of the wires. `/healthz` and `/readyz` answer everybody, because probes have neither credentials nor
 * a matching Host. `/metrics` requires both.
 */
export function opsMount(options: OpsOptions): Mount {
  const { health = ["/healthz"], state, metrics } = options;
  const plain = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };
  return {
    wire: "ops",
    claims: (path) => path === "/readyz" || health.includes(path) || (metrics !== undefined && path === "/metrics"),
    request(request, response) {
      const exchange = nodeExchange(request, response);
      const { path, method } = exchange;
      if (method !== "GET" && method !== "HEAD") return exchange.reply(405, { ...plain, allow: "GET, HEAD" }, "");
      if (path === "/readyz")
        return void Promise.resolve(state()).then((now) => exchange.reply(ready.has(now) ? 200 : 503, plain, `${now}\n`));
      if (path !== "/metrics" || metrics === undefined) return exchange.reply(200, plain, "ok\n");
      void admit(exchange, options, path).then((admission) => {
        if ("status" in admission) exchange.reply(admission.status, admission.headers, admission.text);
        else exchange.reply(200, { ...plain, ...admission.headers, "content-type": metrics.contentType }, metrics.text());
      });
    },
  };
}
