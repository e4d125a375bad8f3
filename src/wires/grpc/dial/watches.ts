import type { Incoming } from "../../../codec/index.js";
import { decodeMessage } from "../../../codec/mcpv1/index.js";
import { Fault, type JsonObject } from "../../../core/index.js";
import type { ClientCall } from "../../../io/index.js";

/** Milliseconds after which a watch counts as accepted if it was not refused. */
const ACCEPTED_MS = 250;

/** Subscriptions on a server that only has `WatchResources`: one background watch for each resource. */
export class Watches {
  readonly #watch: (patterns: readonly string[]) => ClientCall;
  readonly #tell: (message: Incoming) => Promise<void>;
  readonly #open = new Map<string, ClientCall>();

  constructor(watch: (patterns: readonly string[]) => ClientCall, tell: (message: Incoming) => Promise<void>) {
    this.#watch = watch;
    this.#tell = tell;
  }

  /** Subscribes or unsubscribes; undefined if the request is about something else. */
  request(method: string, { uri }: JsonObject): Promise<void> | undefined {
    if (method !== "resources/subscribe" && method !== "resources/unsubscribe") return undefined;
    if (typeof uri !== "string") return Promise.reject(new Fault("invalid-params", `${method} needs a uri`));
    if (method === "resources/subscribe") return this.#subscribe(uri);
    this.#open.get(uri)?.cancel();
    this.#open.delete(uri);
    return Promise.resolve();
  }

  close(): void {
    for (const call of this.#open.values()) call.cancel();
    this.#open.clear();
  }

  /** Resolves when the server's headers show that it has accepted the watch. */
  async #subscribe(uri: string): Promise<void> {
    if (this.#open.has(uri)) return;
    const call = this.#watch([uri]);
    this.#open.set(uri, call);
    void this.#read(uri, call);
    const failed = call.status.then((status) => Promise.reject(new Fault("unavailable", status.message ?? "the watch ended")));
    failed.catch(() => {});
    // Not every server sends its headers before the first change.
    let timer: ReturnType<typeof setTimeout> | undefined;
    const accepted = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ACCEPTED_MS);
    });
    await Promise.race([call.headers.then(() => {}), failed, accepted]).finally(() => clearTimeout(timer));
  }

  async #read(uri: string, call: ClientCall): Promise<void> {
    try {
      for await (const batch of call.messages) {
        for (const bytes of batch) {
          const change = decodeMessage("WatchResourcesResponse", bytes);
          const params = { uri: typeof change["uri"] === "string" ? change["uri"] : uri };
          await this.#tell({ kind: "notification", method: "notifications/resources/updated", params });
        }
      }
    } catch {
      // If the connection is lost, its users are told anyway. If the server ended the watch, it can be opened again.
    }
    if (this.#open.get(uri) === call) this.#open.delete(uri);
  }
}
