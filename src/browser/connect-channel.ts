import { defaultLimits, Fault, isObject, toFault } from "../core/index.js";
import { httpToGrpc, statusFault, statusNames, UNKNOWN } from "../io/grpc/portable.js";
import type { Channel, ClientCall, Metadata, Status } from "../io/index.js";
import { concat, timerMs } from "../stream/index.js";
import { bodyOf, unreached, wholeOf } from "./body.js";
import { envelopeHead, envelopes } from "./envelopes.js";

export interface ConnectChannelOptions {
  readonly fetch: typeof fetch;
  readonly messageBytes?: number | undefined;
  /** Whether the RPC of a path has one answer: Connect writes that without an envelope. */
  isUnary(path: string): boolean;
}

type CallOptions = Parameters<Channel["call"]>[1];

const OK: Status = { code: 0 };

/** RPCs of one request each, by the Connect protocol. */
export function connectChannel(origin: string, options: ConnectChannelOptions): Channel {
  const open = new Set<ConnectCall>();
  return {
    state: "ready",
    call(path, callOptions) {
      const call = new ConnectCall(`${origin}${path}`, options.isUnary(path), options, callOptions);
      open.add(call);
      void call.status.then(() => open.delete(call));
      return call;
    },
    async close() {
      for (const call of open) call.cancel(new Fault("unavailable", "the connection was closed", { data: { reason: "closed" } }));
    },
  };
}

class ConnectCall implements ClientCall {
  readonly backlog = 0;
  readonly headers: Promise<Metadata>;
  readonly status: Promise<Status>;
  readonly messages: AsyncGenerator<readonly Uint8Array[]>;
  readonly #url: string;
  readonly #unary: boolean;
  readonly #options: ConnectChannelOptions;
  readonly #controller = new AbortController();
  readonly #requests: Uint8Array[] = [];
  readonly #metadata: Metadata | undefined;
  readonly #deadline: number | undefined;
  readonly #late: ReturnType<typeof setTimeout> | undefined;
  #begin: (response: Promise<Response>) => void = () => {};
  #end: (status: Status) => void = () => {};

  constructor(url: string, unary: boolean, options: ConnectChannelOptions, { metadata, deadline }: CallOptions = {}) {
    this.#url = url;
    this.#unary = unary;
    this.#options = options;
    this.#metadata = metadata;
    this.#deadline = deadline;
    const response = new Promise<Response>((resolve) => {
      this.#begin = resolve;
    });
    this.headers = response.then(metadataOf);
    this.headers.catch(() => {});
    this.status = new Promise((resolve) => {
      this.#end = resolve;
    });
    // An answer that is one is read at once: whoever only wants its status does not read it.
    const whole = unary ? this.#whole(response) : undefined;
    whole?.catch(() => {});
    this.messages = this.#read(response, whole);
    if (deadline !== undefined)
      this.#late = setTimeout(() => this.cancel(new Fault("deadline", "the deadline passed")), timerMs(deadline - Date.now()));
  }

  send(message: Uint8Array, tail?: Uint8Array): undefined {
    this.#requests.push(tail === undefined ? message : concat([message, tail]));
  }

  done(): void {
    const { signal } = this.#controller;
    const body = new Blob(this.#requests.flatMap((each) => (this.#unary ? [copied(each)] : [envelopeHead(each), copied(each)])));
    const headers = new Headers({
      "content-type": this.#unary ? "application/proto" : "application/connect+proto",
      "connect-protocol-version": "1",
    });
    if (this.#deadline !== undefined) headers.set("connect-timeout-ms", String(Math.max(0, this.#deadline - Date.now())));
    for (const [name, value] of Object.entries(this.#metadata ?? {})) headers.set(name, String(value));
    this.#begin(
      this.#options.fetch(this.#url, { method: "POST", headers, body, signal, redirect: "error" }).catch((error) => {
        throw unreached(error, this.#url);
      }),
    );
  }

  cancel(reason: Fault = new Fault("cancelled", "the call was cancelled")): void {
    this.#controller.abort(reason);
    this.#finish({ code: 1, message: reason.message });
  }

  #finish(status: Status): Status {
    clearTimeout(this.#late);
    this.#end(status);
    return status;
  }

  get #max(): number {
    return this.#options.messageBytes ?? defaultLimits.messageBytes;
  }

  async #whole(response: Promise<Response>): Promise<Uint8Array> {
    try {
      const answer = await response;
      const bytes = await wholeOf(bodyOf(answer), this.#max);
      if (answer.ok) return bytes;
      throw statusFault(this.#finish(errorStatus(jsonOf(bytes), answer.status, metadataOf(answer))));
    } catch (error) {
      throw this.#failed(error);
    } finally {
      this.#finish(OK);
    }
  }

  async *#read(response: Promise<Response>, whole: Promise<Uint8Array> | undefined): AsyncGenerator<readonly Uint8Array[]> {
    try {
      if (whole !== undefined) {
        yield [await whole];
        return;
      }
      const answer = await response;
      if (!answer.ok) {
        const said = jsonOf(await wholeOf(bodyOf(answer), this.#max));
        throw statusFault(this.#finish(errorStatus(said, answer.status, metadataOf(answer))));
      }
      for await (const { messages, last } of envelopes(bodyOf(answer), this.#max)) {
        if (messages.length > 0) yield messages;
        if (last === undefined) continue;
        const status = this.#finish(endStatus(jsonOf(last)));
        if (status.code !== OK.code) throw statusFault(status);
        return;
      }
      throw new Fault("unavailable", "the server closed the stream before its end", { data: { reason: "closed" } });
    } catch (error) {
      throw this.#failed(error);
    } finally {
      this.#controller.abort();
      this.#finish(OK);
    }
  }

  /** What the reader hears: why the call was given up, where that is why it failed. */
  #failed(error: unknown): Fault {
    const { signal } = this.#controller;
    const fault = signal.aborted && signal.reason instanceof Fault ? signal.reason : toFault(error);
    this.#finish({ code: UNKNOWN, message: fault.message });
    return fault;
  }
}

/** A copy that nothing but this call has, as a body wants it. */
function copied(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

function metadataOf({ headers }: Response): Metadata {
  const metadata: Record<string, string> = {};
  headers.forEach((value, name) => {
    metadata[name] = value;
  });
  return metadata;
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** The error of an answer that is one. A proxy's has only its HTTP status. */
function errorStatus(said: unknown, http: number, metadata: Metadata): Status {
  const { code, message } = isObject(said) ? said : {};
  const number = codeNumber(code);
  return number === undefined
    ? { code: httpToGrpc(http), message: `the server answered HTTP ${http}`, metadata }
    : { code: number, message: typeof message === "string" ? message : "", metadata };
}

/** What the last envelope of a stream says. */
function endStatus(said: unknown): Status {
  const { error, metadata } = isObject(said) ? said : {};
  const trailers: Record<string, string> = {};
  for (const [name, values] of Object.entries(isObject(metadata) ? metadata : {}))
    trailers[name.toLowerCase()] = Array.isArray(values) ? values.join(", ") : String(values);
  if (!isObject(error)) return { ...OK, metadata: trailers };
  const { code, message } = error;
  return { code: codeNumber(code) ?? UNKNOWN, message: typeof message === "string" ? message : "", metadata: trailers };
}

/** Connect names the statuses of gRPC in lower case, and spells one of them with one l. */
function codeNumber(code: unknown): number | undefined {
  const number = code === "canceled" ? 1 : statusNames.indexOf(String(code).toUpperCase());
  return number > 0 ? number : undefined;
}
