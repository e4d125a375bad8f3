import type { Link } from "../../codec/index.js";
import { type Cancel, Canceller, closingFault, type ListenOptions, limitsOf, type Service, toFault } from "../../core/index.js";
import type { ServeLinkOptions } from "./options.js";
import { Parking } from "./parking.js";
import { serveLink } from "./serve-link.js";

/** The links of one listener: served until they end, and drained together. A client may come back for a parked call on another link. */
export class ServedLinks {
  readonly #service: Service;
  readonly #options: ListenOptions;
  readonly #closing = new Canceller();
  readonly #served = new Set<Promise<void>>();
  readonly #parking: Parking;

  constructor(service: Service, options: ListenOptions) {
    this.#service = service;
    this.#options = options;
    this.#parking = new Parking(service, limitsOf(options.limits), options.sealKey);
  }

  /** Fires when no new links are accepted. */
  get closing(): Cancel {
    return this.#closing;
  }

  /** Serves a link. Resolves when it has ended, with or without a fault. */
  add(link: Link, more?: ServeLinkOptions): Promise<void> {
    const served: Promise<void> = serveLink(this.#service, link, {
      ...this.#options,
      ...more,
      parking: this.#parking,
      closing: this.#closing,
    })
      .catch((error) => this.#options.onFault?.(toFault(error)))
      .finally(() => this.#served.delete(served));
    this.#served.add(served);
    return served;
  }

  /** Accepts no new calls. Resolves once the accepted calls are answered and their links have ended. */
  async drain(): Promise<void> {
    this.#closing.fire(closingFault());
    await Promise.all(this.#served);
    this.#parking.clear();
  }
}
