import {
  type Cancel,
  type Client,
  type Connection,
  type Context,
  clientInfo,
  defaultTimeouts,
  type FanIn,
  Fault,
  type JsonObject,
  jsonText,
  type Layer,
  type Lease,
  leasedReplies,
  listMembers,
  type Message,
  neverCancelled,
  optionLimits,
  ownedBy,
  principalShares,
  quotaOwner,
  RELEASE,
  type Replies,
  type Request,
  type Service,
  sharedByAll,
  toFault,
} from "../core/index.js";
import { type Connections, connections, GIVEN_UP_MS, listens, mayAsk } from "../era/index.js";
import type { Dialer } from "./dialer.js";
import { listenAgain, onNextSession } from "./listen-again.js";
import { Pool, type PoolCaller } from "./pool.js";
import { timeLimit } from "./time-limit.js";
import { type Askable, askable, type BridgeOptions, type SessionMode } from "./types.js";
import { Waiting } from "./waiting.js";

/** The most sessions with the server, if each is a process. */
const MAX_PROCESSES = 64;
const POOL_SHARE = 3 / 4;

const SHARED = "shared";

const offers: Record<Askable, JsonObject> = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: { listChanged: true },
};

const option = { name: "sessions", use: 'sessions: "own", or --sessions own' };
const sharedFanIn: FanIn = { ...sharedByAll, option };
/** For sessions on which clients only list and listen: what the server asks there is about none of them. */
const unansweredFanIn: FanIn = { owner: () => undefined, option };

/** The session with the server that a call goes to. `lists`: one for all clients that can be asked the same things. */
type Route = "shared" | "lists" | "own" | "pool";

/** The server behind a bridge as one service. Decides which client gets which session with it. */
export class Upstreams implements Service {
  readonly #dialer: Dialer;
  readonly #mode: SessionMode;
  readonly #offer: JsonObject;
  readonly #sessions: Connections;
  readonly #pool: Pool;
  readonly #waiting: Waiting;
  readonly #waitMs: number;
  readonly #limit: Layer;
  /** Whether each call on the shared session is counted, because the session stops when there is none. */
  readonly #counts: boolean;
  /** The shared session, while it is open. */
  #shared: Connection | undefined;

  constructor(dialer: Dialer, options: BridgeOptions) {
    const { sessions = "auto", offer = askable, to, idleStopMs } = options;
    const max = options.maxUpstreams ?? (typeof to === "string" ? optionLimits.maxUpstreams : MAX_PROCESSES);
    const perOwner = options.maxUpstreamsPerPrincipal ?? Math.ceil(max * principalShares.maxUpstreams);
    this.#dialer = dialer;
    dialer.open = () => this.start();
    this.#mode = sessions;
    this.#offer = Object.fromEntries(offer.map((name) => [name, offers[name]]));
    this.#counts = idleStopMs !== undefined;
    this.#sessions = connections({
      max,
      perOwner,
      limit: "maxUpstreams",
      idleMs: idleStopMs ?? Number.POSITIVE_INFINITY,
      spareMs: GIVEN_UP_MS,
    });
    this.#waitMs = options.waitMs ?? defaultTimeouts.waitMs;
    this.#waiting = new Waiting(this.#waitMs);
    this.#limit = options.callMs === undefined ? (service) => service : timeLimit(options.callMs);
    this.#pool = new Pool({
      size: typeof sessions === "object" ? sessions.pool : (options.poolSize ?? Math.ceil(max * POOL_SHARE)),
      perOwner,
      unusedMs: idleStopMs,
      open: (member) => this.#sessions.lease(wanted(member.name, member.name, () => this.#open(member.offer, member.fanIn))),
      close: (member) => this.#sessions.end(member.name),
    });
  }

  /** Opens a session at once, so that a server that cannot start is noticed. */
  async start(): Promise<void> {
    if (this.#mode === "auto" || this.#mode === "shared") return (await this.#leaseShared()).release();
    // No client has come yet that this session could be for.
    const proof = await this.#open({}, sharedFanIn);
    await proof.close();
  }

  call(request: Request, context: Context): Replies {
    if (!listens(request.method)) {
      // A call that waits for a lost server goes to the next session, if the server comes back in another era.
      if (this.#dialer.isAway) return onNextSession((inner) => this.#call(request, inner), context);
      return this.#call(request, context);
    }
    const over = (): boolean => this.#dialer.state === "stopped";
    return listenAgain({ open: (again, inner) => this.#call(again, inner), over, waitMs: this.#waitMs }, request, context);
  }

  #call(request: Request, context: Context): Replies {
    const ready = this.#ready(request, context);
    if (ready !== undefined) return this.#limit(ready).call(request, context);
    // The time of a call begins when it has a session.
    const lease = async (): Promise<Lease> => {
      const { service, release } = await this.#wait(request, context);
      return { service: this.#limit(service), release };
    };
    return leasedReplies(lease, request, context);
  }

  async notify(notification: Message, context: Context): Promise<void> {
    // No session is opened for a notification: a caller without one has nothing that it could be about.
    if (!this.#hasSession(this.#route(notification, context.client), context.client)) return;
    // Also for a call that was given up: the notification may release what the server keeps.
    const lease = await this.#wait(notification, { ...context, cancel: neverCancelled });
    try {
      await lease.service.notify(notification, context);
    } finally {
      lease.release();
    }
  }

  async close(): Promise<void> {
    this.#dialer.close();
    this.#pool.close();
    await this.#sessions.close();
  }

  /** The shared session, if the call goes there and does not have to wait or be counted. */
  #ready(request: Message, { client }: Context): Connection | undefined {
    if (this.#shared === undefined || this.#counts || this.#route(request, client) !== "shared") return undefined;
    return this.#shared;
  }

  #wait(request: Message, { client, cancel }: Context): Promise<Lease> {
    return this.#waiting.lease(quotaOwner(client.identity, client.identity.key), cancel, async (gone) => {
      // The shared session shows the era of the server. A client with a session of its own does not need it.
      if (this.#mode === "auto" && this.#shared === undefined && !this.#hasOwn(client)) (await this.#leaseShared()).release();
      switch (this.#route(request, client)) {
        case "shared":
          return this.#leaseShared();
        case "lists":
          return this.#leaseLists(client);
        case "own":
          return this.#leaseOwn(client, gone);
        case "pool":
          return this.#pool.lease(this.#poolCaller(client), gone);
      }
    });
  }

  #route(request: Message, client: Client): Route {
    if (typeof this.#mode === "object") return "pool";
    if (this.#mode !== "auto") return this.#mode;
    // A modern server names the call in which it asks. A client that cannot be asked cannot be confused with another.
    const isLegacy = this.#shared === undefined ? this.#hasOwn(client) : this.#shared.era === "legacy";
    if (!isLegacy || !canBeAsked(client)) return "shared";
    if (client.era === "legacy") return "own";
    if (listens(request.method) || listMembers.has(request.method) || request.method === RELEASE) return "lists";
    return mayAsk(request.method) ? "pool" : "shared";
  }

  #hasSession(route: Route, client: Client): boolean {
    if (route === "pool") return this.#pool.has(this.#poolCaller(client));
    return route !== "lists" || this.#sessions.find(listsKey(this.#askables(client))) !== undefined;
  }

  #leaseShared(): Promise<Lease> {
    return this.#sessions.lease(
      wanted(SHARED, SHARED, async () => {
        const connection = await this.#open(this.#mode === "shared" ? this.#offer : {}, sharedFanIn);
        this.#shared = connection;
        void connection.closed.then(() => {
          if (this.#shared === connection) this.#shared = undefined;
        });
        return connection;
      }),
    );
  }

  /** A server may have other tools, prompts and resources for clients that it can ask. */
  async #leaseLists(client: Client): Promise<Lease> {
    const names = this.#askables(client);
    const key = listsKey(names);
    const offer = Object.fromEntries(names.map((name) => [name, offers[name]]));
    try {
      return await this.#sessions.lease(wanted(key, SHARED, () => this.#open(offer, unansweredFanIn)));
    } catch (error) {
      // Where there is no room for one more session, the other one has most of what it would list.
      if (toFault(error).code === "overload") return this.#leaseShared();
      throw error;
    }
  }

  /** What the server is told that it may ask of a client. */
  #askables({ capabilities }: Client): readonly Askable[] {
    return askable.filter((name) => capabilities[name] !== undefined && this.#offer[name] !== undefined);
  }

  async #leaseOwn({ identity, info, capabilities }: Client, gone: Cancel): Promise<Lease> {
    const key = ownKey(identity, capabilities);
    const open = async (): Promise<Connection> => {
      if (identity.ended.fired) throw identity.ended.reason ?? new Fault("unavailable", "the client has gone");
      const connection = await this.#dialer.dial({
        client: { capabilities, ...(info === undefined ? undefined : { info }) },
        fanIn: ownedBy(identity),
      });
      const unhook = identity.ended.on(() => this.#sessions.end(key));
      void connection.closed.then(unhook);
      return connection;
    };
    // A caller at its limit is not refused while one of its own clients may have left silently.
    return this.#sessions.lease({ ...wanted(key, quotaOwner(identity, identity.key), open), idle: identity.idle, gone });
  }

  #hasOwn({ identity, capabilities }: Client): boolean {
    return this.#sessions.find(ownKey(identity, capabilities)) !== undefined;
  }

  /** With `auto` a server is told what its client can be asked. An explicit pool makes no difference between clients. */
  #poolCaller({ identity, capabilities }: Client): PoolCaller {
    if (this.#mode !== "auto") return { identity, offer: this.#offer };
    const offered = Object.entries(capabilities).filter(([name]) => this.#offer[name] !== undefined);
    return { identity, offer: Object.fromEntries(offered) };
  }

  #open(capabilities: JsonObject, fanIn: FanIn): Promise<Connection> {
    return this.#dialer.dial({ client: { info: { ...clientInfo }, capabilities }, fanIn });
  }
}

function wanted(key: string, owner: string, open: () => Promise<Connection>): Parameters<Connections["lease"]>[0] {
  return { key, owner, presence: false, open };
}

function listsKey(names: readonly Askable[]): string {
  return ["lists", ...names].join(" ");
}

/** A stateless client says in each call what it can be asked; a legacy server is told once. */
function ownKey(identity: Client["identity"], capabilities: JsonObject): string {
  return jsonText([identity.key, capabilities]);
}

function canBeAsked({ capabilities }: Client): boolean {
  return askable.some((name) => capabilities[name] !== undefined);
}
