import { closingFault, fixedTimeouts, grpcStatuses, limitsOf, refusedStatus, requestStatuses, toFault } from "../../../core/index.js";
import type { NodeRequest, NodeResponse } from "../../../io/index.js";
import { type Admission, admit, type Exchange, isGrpc, localHosts, nodeExchange, peerOf, receivedMetadata } from "../../../io/index.js";
import { within } from "../../../stream/index.js";
import { HEALTH } from "../services/options.js";
import type { AcceptedRequest } from "./call.js";
import { webHeaders } from "./cors.js";
import { explain, webContentType } from "./explain.js";
import type { Loaded } from "./load.js";
import type { ConnectProtocolOptions, Handle } from "./options.js";

/** Connect and gRPC-Web, served by the handler of gRPC calls, over HTTP/1.1 and HTTP/2. Their library is loaded with the first call. */
export class ConnectServer {
  readonly #handle: Handle;
  readonly #served: ConnectProtocolOptions;
  readonly #open = new Set<AbortController>();
  #loaded: Promise<Loaded> | undefined;
  #empty: (() => void) | undefined;

  constructor(handle: Handle, served: ConnectProtocolOptions) {
    this.#handle = handle;
    this.#served = served;
  }

  /** Answers a request; never rejects. */
  async request(request: NodeRequest, response: NodeResponse): Promise<void> {
    const exchange = nodeExchange(request, response, { limits: this.#served.options.limits });
    const controller = new AbortController();
    const unhook = exchange.onGone(() => controller.abort());
    this.#open.add(controller);
    try {
      await this.#answer(request, response, exchange, controller.signal);
    } catch (error) {
      this.#served.options.onFault?.(toFault(error));
      exchange.reply(refusedStatus({ code: "internal" }), {});
    } finally {
      unhook();
      this.#open.delete(controller);
      if (this.#open.size === 0) this.#empty?.();
    }
  }

  /** Calls in flight have `graceMs` to finish, then they end with `unavailable`. */
  async close(graceMs: number): Promise<void> {
    if (await this.#drained(graceMs)) return;
    for (const controller of this.#open) controller.abort(this.#served.closing.reason);
    await this.#drained(fixedTimeouts.lastAnswersMs);
  }

  #drained(ms: number): Promise<boolean> {
    if (this.#open.size === 0) return Promise.resolve(true);
    return within(
      new Promise<void>((resolve) => {
        this.#empty = resolve;
      }),
      ms,
    );
  }

  async #answer(request: NodeRequest, response: NodeResponse, exchange: Exchange, signal: AbortSignal): Promise<void> {
    const peer = peerOf("stream" in request ? request.stream.session : request);
    const admission = await this.#admit(exchange, peer.address !== undefined);
    const headers = webHeaders(admission.headers);
    if ("status" in admission) return refuse(exchange, admission, headers);
    const { path } = exchange;
    const health = path.startsWith(HEALTH);
    if (this.#served.closing.fired && !health)
      return refuse(exchange, { status: refusedStatus(closingFault()), text: this.#served.closing.reason?.message ?? "" }, headers);
    const say = (status: number): void =>
      exchange.reply(status, { ...headers, "content-type": "text/plain; charset=utf-8" }, explain(status, path));
    const type = exchange.header("content-type");
    if (isGrpc(type)) return say(requestStatuses["gRPC over HTTP/1.1"]);
    if (exchange.method !== "GET" && !webContentType.test(type ?? "")) return say(requestStatuses["a body of another type, or packed"]);
    const {
      routes,
      json,
      exchange: run,
    } = await (this.#loaded ??= import("./load.js").then(({ loaded }) => loaded(this.#handle, this.#served)));
    const handler = routes.get(path);
    if (handler === undefined) return say(requestStatuses["no such path"]);
    const accepted: Omit<AcceptedRequest, "messages"> = {
      metadata: metadataOf(request),
      authority: exchange.header(":authority") ?? exchange.header("host"),
      peer,
      remote: exchange.remote,
      principal: admission.principal,
      credentials: admission.credentials,
      account: exchange.account,
    };
    await run(request, response, {
      handler,
      accepted,
      signal,
      limits: limitsOf(this.#served.options.limits),
      acceptGzip: this.#served.options.acceptGzip !== false,
      json,
      headers,
      explain: (status) => explain(status, path),
    });
  }

  #admit(exchange: Exchange, network: boolean): Promise<Admission> {
    const { options } = this.#served;
    return admit(
      exchange,
      {
        ...options,
        ...(network ? undefined : localHosts),
        // Health checks need no credentials.
        ...(exchange.path.startsWith(HEALTH) && { auth: undefined }),
      },
      "",
    );
  }
}

/** Connect and gRPC codes for the HTTP statuses of the gate and of a closing listener. */
const codes: Readonly<Record<number, readonly [name: string, grpc: number]>> = {
  [refusedStatus({ code: "unauthenticated" })]: ["unauthenticated", grpcStatuses.unauthenticated],
  [refusedStatus({ code: "denied" })]: ["permission_denied", grpcStatuses.denied],
  [refusedStatus(closingFault())]: ["unavailable", grpcStatuses.unavailable],
};

/** Refuses a request in the form of its protocol. The HTTP status is the same for all. */
function refuse(exchange: Exchange, refusal: { readonly status: number; readonly text: string }, headers: Record<string, string>): void {
  const { status } = refusal;
  const code = codes[status];
  if (code === undefined) return exchange.reply(status, headers, refusal.text);
  if (/^application\/grpc-web/i.test(exchange.header("content-type") ?? ""))
    return exchange.reply(status, { ...headers, "grpc-status": String(code[1]), "grpc-message": encodeURIComponent(refusal.text) });
  exchange.reply(status, { ...headers, "content-type": "application/json" }, JSON.stringify({ code: code[0], message: refusal.text }));
}

/** The headers of a request without those of HTTP and of Connect. */
function metadataOf(request: NodeRequest): AcceptedRequest["metadata"] {
  const metadata = { ...receivedMetadata(request.headers, request.rawHeaders) };
  for (const name of Object.keys(metadata))
    if (/^(connect-|(x-)?grpc-|accept-encoding$|content-encoding$)/.test(name)) delete metadata[name];
  return metadata;
}
