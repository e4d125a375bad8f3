import { Canceller, type Client, type Context, isObject, type JsonObject, meta, resultOf, type Service } from "../../core/index.js";

/** Milliseconds that a result waits for the server's info. A result should have it, but need not. */
const WAIT_MS = 1_000;

/** The server's info, for results of a service that does not add it itself. The service is asked once, and each later answer counts. */
export class ServerInfo {
  readonly #service: Service;
  #asked: Promise<JsonObject | undefined> | undefined;
  #found: { readonly info: JsonObject | undefined } | undefined;

  constructor(service: Service) {
    this.#service = service;
  }

  /** The info for a result of `method`, without waiting if it is known. */
  get(method: string, result: JsonObject, client: Client): JsonObject | undefined | Promise<JsonObject | undefined> {
    if (method === "server/discover") this.#found = { info: infoOf(result) };
    if (this.#found !== undefined) return this.#found.info;
    this.#asked ??= this.#ask(client);
    return this.#soon(this.#asked);
  }

  async #soon(asked: Promise<JsonObject | undefined>): Promise<JsonObject | undefined> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, WAIT_MS, undefined);
    });
    try {
      return await Promise.race([asked, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #ask(client: Client): Promise<JsonObject | undefined> {
    const context: Context = { client, cancel: new Canceller(), progress: false, metadata: {} };
    const found = await resultOf(this.#service.call({ method: "server/discover", params: {} }, context)).catch(() => ({}));
    this.#found = { info: infoOf(found) };
    return this.#found.info;
  }
}

function infoOf(discovered: JsonObject): JsonObject | undefined {
  const info = isObject(discovered["_meta"]) ? discovered["_meta"][meta.serverInfo] : undefined;
  return isObject(info) ? info : undefined;
}
