import {
  AMBIENT,
  type Ask,
  Canceller,
  type Connection,
  type Context,
  type Era,
  Fault,
  guard,
  type JsonObject,
  type Message,
  meta,
  newestVersions,
  type Replies,
  type Reply,
  type Request,
} from "../../src/core/index.js";

type Made = JsonObject | Promise<JsonObject> | AsyncGenerator<Reply, JsonObject | undefined, undefined>;
/** Answers one method: a result, or a generator of replies. */
export type Handle = (params: JsonObject, context: Context) => Made;

/** A server in this process: handlers behind the guard, as a connection that keeps a record of its use. */
export interface Peer extends Connection {
  readonly calls: { readonly request: Request; readonly context: Context }[];
  /** Methods whose replies were returned before they ended. */
  readonly left: string[];
  readonly notified: Message[];
  of(method: string): readonly { readonly request: Request; readonly context: Context }[];
}

export interface PeerOptions {
  readonly era?: Era;
  readonly capabilities?: JsonObject;
}

export function peer(handlers: Readonly<Record<string, Handle>>, { era = "modern", capabilities = {} }: PeerOptions = {}): Peer {
  const calls: { request: Request; context: Context }[] = [];
  const left: string[] = [];
  const notified: Message[] = [];
  const open = new Set<Canceller>();
  let end: (fault: Fault | undefined) => void;
  const closed = new Promise<Fault | undefined>((resolve) => {
    end = resolve;
  });
  const all: Readonly<Record<string, Handle>> = {
    [AMBIENT]: (_, { cancel }) => new Promise((resolve) => cancel.on(() => resolve({}))),
    "server/discover": () => ({
      resultType: "complete",
      supportedVersions: [newestVersions[era]],
      capabilities,
      instructions: "Be kind.",
      _meta: { [meta.serverInfo]: { name: "peer", version: "1" } },
    }),
    ping: () => ({}),
    ...handlers,
  };

  return {
    era,
    protocolVersion: newestVersions[era],
    closed,
    calls,
    left,
    notified,
    of: (method) => calls.filter((call) => call.request.method === method),
    call(request, context): Replies {
      const cancel = new Canceller();
      context.cancel.on(() => cancel.fire(context.cancel.reason));
      const replies = guard(
        async function* (inner) {
          calls.push({ request, context });
          open.add(cancel);
          try {
            const handle = all[request.method];
            if (handle === undefined) throw new Fault("unknown-method", `no ${request.method} here`, { rpcCode: -32601 });
            const made = handle(request.params, inner);
            return Symbol.asyncIterator in made ? yield* made : await made;
          } finally {
            open.delete(cancel);
          }
        },
        { ...context, cancel },
      );
      let ended = false;
      const settle = <T>(step: T): T => {
        ended = true;
        return step;
      };
      const spied: Replies = {
        next: () =>
          replies.next().then(
            (step) => (step.done === true || step.value.kind === "result" ? settle(step) : step),
            (error) => {
              settle(error);
              throw error;
            },
          ),
        return: () => {
          if (!ended) left.push(request.method);
          return replies.return();
        },
        [Symbol.asyncIterator]: () => spied,
      };
      return spied;
    },
    async notify(notification) {
      notified.push(notification);
    },
    async close() {
      for (const cancel of open) cancel.fire(new Fault("unavailable", "the connection was closed"));
      end(undefined);
    },
    async [Symbol.asyncDispose]() {
      await this.close();
    },
  };
}

/** An ask to put into a reply, and what became of it. */
export interface Asked {
  readonly reply: Reply;
  readonly answer: Promise<JsonObject>;
  readonly cancel: Canceller;
  readonly progress: JsonObject[];
}

export function asking(method: string, params: JsonObject = {}): Asked {
  const cancel = new Canceller();
  const progress: JsonObject[] = [];
  let resolve: (result: JsonObject) => void;
  let reject: (fault: Fault) => void;
  const answer = new Promise<JsonObject>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  answer.catch(() => {});
  const ask: Ask = {
    key: "1",
    request: { method, params },
    origin: "stated",
    cancel,
    answer: (result) => resolve(result),
    refuse: (fault) => reject(fault),
    progress: (told) => void progress.push(told),
    wantsProgress: true,
  };
  return { reply: { kind: "ask", ask }, answer, cancel, progress };
}

/** Something to wait for and to bring about. */
export interface Gate<T = void> extends Promise<T> {
  open(value: T): void;
}

export function gate<T = void>(): Gate<T> {
  let open!: (value: T) => void;
  const promise = new Promise<T>((resolve) => {
    open = resolve;
  });
  return Object.assign(promise, { open });
}

export async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of stream) values.push(value);
  return values;
}
