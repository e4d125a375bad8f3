import type { LinkMessage } from "../../codec/index.js";
import { Fault, isObject } from "../../core/index.js";
import type { LinkWatch } from "./link-watch.js";

/** Statuses of a proxy whose server is away, or of a server that takes no calls now. */
export const awayStatuses: ReadonlySet<number | undefined> = new Set([502, 503, 504]);

/**
 * For a link whose calls are requests of their own: it has no connection whose loss could be seen. The first call that does not reach the
 * server counts as the loss, and the first answer after that as the return.
 */
export class Reach {
  readonly #watch: LinkWatch;
  #lostAt: number | undefined;

  constructor(watch: LinkWatch) {
    this.#watch = watch;
  }

  take(message: LinkMessage): void {
    if (message.kind === "bad") {
      if (this.#lostAt !== undefined || message.answers === undefined || !isUnreached(message.fault)) return;
      this.#lostAt = performance.now();
      this.#watch.upstream({ kind: "lost", reason: message.fault });
    } else if (this.#lostAt !== undefined && (message.kind === "result" || message.kind === "error")) {
      const milliseconds = performance.now() - this.#lostAt;
      this.#lostAt = undefined;
      this.#watch.upstream({ kind: "restart", milliseconds });
    }
  }
}

function isUnreached(fault: Fault): boolean {
  const status = httpStatus(fault);
  return status === undefined ? fault.code === "unavailable" && fault.rpcCode === undefined : awayStatuses.has(status);
}

/** The HTTP status that a fault came with, if it did. */
export function httpStatus({ data, cause }: Fault): number | undefined {
  if (isObject(data) && typeof data["status"] === "number") return data["status"];
  return cause instanceof Fault ? httpStatus(cause) : undefined;
}
