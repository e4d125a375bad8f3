import { Canceller, type Client, type Context, isObject, type JsonObject, meta, resultOf, type Service } from "../../core/index.js";

/** Milliseconds that a result waits for the name of its server, which it should have and need not. */
const WAIT_MS = 1_000;

/** Who serves, for the results of a service that does not say so itself: asked for once a link. */
export class ServerInfo {
  readonly #service: Service;
  #asked: Promise<JsonObject | undefined> | undefined;
  #found: { readonly info: JsonObject | undefined } | undefined;

  constructor(service: Service) {
    this.#service = service;
  }

  /** For a result of `method` to a client: at once, where it is known. */
  get(method: string, result: JsonObject, client: Client): JsonObject | undefined | Promise<JsonObject | undefined> {
    if (this.#found === undefined && method === "server/discover") this.#found = { info: infoOf(result) };
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
