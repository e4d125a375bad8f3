import {
  AMBIENT,
  type Client,
  type Connection,
  type Context,
  defaultTimeouts,
  type Era,
  Fault,
  failing,
  type JsonObject,
  jsonText,
  type Lease,
  type Limits,
  leasedReplies,
  type Message,
  optionLimits,
  quotaOwner,
  type Replies,
  type Request,
  type Service,
  toFault,
} from "../core/index.js";
import { type Connections, connections } from "../era/index.js";
import { attach, speaksModern } from "./attach.js";
import { callerAuthInfo, withAuthInfo } from "./auth-info.js";
import type { SdkAuthInfo, SdkServer, SdkServerFactory } from "./types.js";

export interface SdkServiceOptions {
  /**
   * `match`, the default: modern callers are served in their own era if the server can. `legacy`: never, so that handlers which ask in the
   * middle of a call can also ask modern callers. Each caller that can be asked then gets a server of its own.
   */
  readonly era?: "match" | "legacy" | undefined;
  /** Servers at the same time; 4096 unless given, and one if a server is given instead of a factory. */
  readonly sessions?: number | undefined;
  /** How many of these one principal may have; a quarter unless given. Callers without a principal count by remote address. */
  readonly sessionsPerPrincipal?: number | undefined;
  /** Milliseconds that an unused server is kept; 60,000 unless given. */
  readonly idleMs?: number | undefined;
  /** The caller, for the server's handlers; by default the principal and its bearer token, if there is a principal. */
  readonly authInfo?: ((context: Context) => SdkAuthInfo | undefined) | undefined;
  readonly limits?: Partial<Limits> | undefined;
  /** Called with what went wrong outside any call. */
  readonly onFault?: ((fault: Fault) => void) | undefined;
}

/** A service over SDK servers, which it opens and closes as needed. */
export interface SdkService extends Service, AsyncDisposable {
  /** Closes every server. Open calls fail. */
  close(): Promise<void>;
}

/**
 * Serves servers of the official SDK, v1 or v2, on any wire. A factory makes one for each legacy client, and one for the modern callers of
 * each principal. A single given server serves one client at a time, and only the legacy era, as with its own connect().
 */
export function sdkService(source: SdkServer | SdkServerFactory, options: SdkServiceOptions = {}): SdkService {
  return new ServerService(source, options);
}

class ServerService implements SdkService {
  readonly #source: SdkServer | SdkServerFactory;
  readonly #options: SdkServiceOptions;
  readonly #sessions: Connections;
  readonly #authInfo: (context: Context) => SdkAuthInfo | undefined;
  #modern: Promise<boolean> | undefined;
  /** The server that was made to find out what it speaks. It is only for the caller it was made for. */
  #first: { readonly server: SdkServer; readonly context: Context } | undefined;

  constructor(source: SdkServer | SdkServerFactory, options: SdkServiceOptions) {
    this.#source = source;
    this.#options = options;
    this.#authInfo = options.authInfo ?? callerAuthInfo;
    const limits =
      typeof source === "function"
        ? {
            max: options.sessions ?? optionLimits.sessions,
            perOwner: options.sessionsPerPrincipal,
            idleMs: options.idleMs ?? defaultTimeouts.sdkIdleMs,
          }
        : { max: 1, perOwner: 1, idleMs: options.idleMs ?? Number.POSITIVE_INFINITY };
    this.#sessions = connections({ ...limits, limit: "sessions", spareMs: 0, replaceable: true });
  }

  call(request: Request, context: Context): Replies {
    try {
      const known = withAuthInfo(request, this.#authInfo(context));
      return leasedReplies(() => this.#lease(context, request.method === AMBIENT), known, context);
    } catch (error) {
      return failing(toFault(error));
    }
  }

  async notify(notification: Message, context: Context): Promise<void> {
    const lease = await this.#lease(context, false);
    try {
      await lease.service.notify(withAuthInfo(notification, this.#authInfo(context)), context);
    } finally {
      lease.release();
    }
  }

  async close(): Promise<void> {
    await this.#sessions.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #lease(context: Context, ambient: boolean): Promise<Lease> {
    const { client } = context;
    const owner = quotaOwner(client.identity, client.identity.key);
    const who = [client.identity.principal, this.#authInfo(context)?.clientId];
    if (client.era === "modern" && (await this.#speaksModern(context))) {
      const open = (): Promise<Connection> => this.#open("modern", context, { capabilities: {} });
      return this.#sessions.lease({ key: name("modern", who), owner, presence: false, open });
    }
    // Callers that cannot be asked share a server: without answers, a server cannot confuse them.
    const alone = client.era === "legacy" || canBeAsked(client);
    const key = alone ? name("client", client.identity.key, client.capabilities) : name("shared", who);
    const told = alone
      ? { capabilities: client.capabilities, ...(client.info === undefined ? {} : { info: client.info }) }
      : { capabilities: {} };
    return this.#sessions.lease({ key, owner, presence: alone && ambient, open: () => this.#open("legacy", context, told) });
  }

  async #open(era: Era, context: Context, client: { readonly info?: JsonObject; readonly capabilities: JsonObject }): Promise<Connection> {
    const first = this.#first;
    this.#first = undefined;
    const server = first?.context === context ? first.server : await this.#make(era, context);
    const { limits, onFault } = this.#options;
    return attach(server, { era, client, limits, onFault });
  }

  #speaksModern(context: Context): Promise<boolean> {
    if (typeof this.#source !== "function" || this.#options.era === "legacy") return Promise.resolve(false);
    this.#modern ??= this.#find(context).catch((error) => {
      this.#modern = undefined;
      throw error;
    });
    return this.#modern;
  }

  async #find(context: Context): Promise<boolean> {
    const server = await this.#make("modern", context);
    const modern = await speaksModern(server);
    this.#first = { server, context };
    return modern;
  }

  async #make(era: Era, context: Context): Promise<SdkServer> {
    if (typeof this.#source !== "function") return this.#source;
    const authInfo = this.#authInfo(context);
    try {
      return await this.#source(authInfo === undefined ? { era } : { era, authInfo });
    } catch (error) {
      throw new Fault("internal", "the server could not be made", { cause: error });
    }
  }
}

function canBeAsked({ capabilities }: Client): boolean {
  return ["elicitation", "sampling", "roots"].some((capability) => capabilities[capability] !== undefined);
}

function name(...parts: readonly unknown[]): string {
  return jsonText(parts);
}
