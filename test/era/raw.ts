import { PassThrough } from "node:stream";
import type { Incoming, IncomingBatch, Outgoing } from "../../src/codec/index.js";
import { type Fault, type JsonObject, meta, type Service } from "../../src/core/index.js";
import { type Link, type ServeLinkOptions, serveLink } from "../../src/era/index.js";
import { lineLink } from "../../src/io/index.js";
import { linkPair } from "../../src/wires/memory/index.js";

export type Single = Exclude<Incoming, IncomingBatch>;

/** One end of a link in the hands of a test, which writes every message itself. */
export interface Raw {
  readonly link: Link;
  /** What came, batches taken apart. */
  readonly seen: readonly Single[];
  /** Batches as they came. */
  readonly batches: readonly IncomingBatch[];
  send(message: Outgoing): Promise<void>;
  /** The first message that fits, come or to come; the test's own timeout is the limit. */
  find<T extends Single>(fits: (message: Single) => message is T): Promise<T>;
  find(fits: (message: Single) => boolean): Promise<Single>;
  /** The answer to a request. */
  answer(id: string | number): Promise<Extract<Single, { kind: "result" | "error" }>>;
}

export function raw(link: Link): Raw {
  const seen: Single[] = [];
  const batches: IncomingBatch[] = [];
  let wake: (() => void)[] = [];
  void (async () => {
    for await (const messages of link.incoming) {
      for (const message of messages) {
        if (message.kind === "part") continue;
        if (message.kind === "batch") batches.push(message);
        seen.push(...(message.kind === "batch" ? message.messages : [message]));
      }
      const waiting = wake;
      wake = [];
      for (const go of waiting) go();
    }
  })().catch(() => {});
  const find = async (fits: (message: Single) => boolean): Promise<Single> => {
    for (;;) {
      const found = seen.find(fits);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => wake.push(resolve));
    }
  };
  return {
    link,
    seen,
    batches,
    send: (message) => link.send(message),
    find: find as Raw["find"],
    answer: (id) =>
      find((message) => (message.kind === "result" || message.kind === "error") && message.id === id) as ReturnType<Raw["answer"]>,
  };
}

export interface Served {
  /** The client's end, which nobody reads yet. */
  readonly link: Link;
  readonly faults: readonly Fault[];
  /** Resolves when the service is not served any more. */
  readonly ended: Promise<void>;
}

/** Serves a service to an end of a link that the test holds. */
export function served(service: Service, options: ServeLinkOptions = {}): Served {
  const [link, theirs] = linkPair();
  const faults: Fault[] = [];
  const ended = serveLink(service, theirs, { onFault: (fault) => void faults.push(fault), ...options }).catch(() => {});
  return { link, faults, ended };
}

export function request(id: string | number, method: string, params: JsonObject = {}): Outgoing {
  return { jsonrpc: "2.0", id, method, params };
}

export function notification(method: string, params: JsonObject = {}): Outgoing {
  return { jsonrpc: "2.0", method, params };
}

/** A modern request, with what its `_meta` has to say. */
export function modern(
  id: string | number,
  method: string,
  params: JsonObject = {},
  more: JsonObject = {},
  capabilities: JsonObject = {},
): Outgoing {
  const _meta = { [meta.protocolVersion]: "2026-07-28", [meta.clientCapabilities]: capabilities, ...more };
  return request(id, method, { ...params, _meta });
}

/** Opens a legacy session by hand. */
export async function initialized(client: Raw, capabilities: JsonObject = {}, protocolVersion = "2025-11-25"): Promise<void> {
  await client.send(request("init", "initialize", { protocolVersion, capabilities, clientInfo: { name: "raw", version: "0" } }));
  await client.answer("init");
  await client.send(notification("notifications/initialized"));
}

/** Serves a service on streams of lines: for what no codec would write. */
export function servedLines(service: Service, options: ServeLinkOptions = {}): { readonly client: Raw; write(line: string): void } {
  const [there, back] = [new PassThrough(), new PassThrough()];
  void serveLink(service, lineLink(there, back), options).catch(() => {});
  const link = lineLink(back, there);
  return { client: raw(link), write: (line) => void there.write(`${line}\n`) };
}
