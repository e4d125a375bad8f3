import { type JsonObject, meta } from "../../../src/core/index.js";
import { answerOf, type Caller, contentOf, offered, textOf } from "../caller.js";

/** A peer in which every message is written by hand. */
export interface RawPeer {
  readonly heard: string[];
  /** Sends a request; resolves with its result, rejects with its error. */
  request(method: string, params: JsonObject): Promise<JsonObject>;
  close(): Promise<void>;
}

/** What answers the requests of a server. */
export type Answers = (method: string, params: JsonObject) => JsonObject;

interface InputRequest {
  readonly method: string;
  readonly params?: JsonObject;
}

/** A client of 2026-07-28: it keeps no session, and answers what it is asked by calling again. */
export function modernCaller(name: string, peer: RawPeer): Caller {
  const answer = answerOf(name);
  const request = async (method: string, params: JsonObject, logLevel = "debug"): Promise<JsonObject> => {
    const _meta = { [meta.protocolVersion]: "2026-07-28", [meta.clientCapabilities]: offered, [meta.logLevel]: logLevel };
    let again: JsonObject = {};
    for (;;) {
      const result = await peer.request(method, { ...params, ...again, _meta: logLevel === "" ? without(_meta, meta.logLevel) : _meta });
      if (result["resultType"] !== "input_required") return result;
      const asked = Object.entries((result["inputRequests"] ?? {}) as Record<string, InputRequest>);
      const inputResponses = Object.fromEntries(asked.map(([key, { method, params }]) => [key, answer(method, params ?? {})]));
      again = { inputResponses, ...(result["requestState"] === undefined ? undefined : { requestState: result["requestState"] }) };
    }
  };
  return caller(name, peer, request);
}

/** A client of 2025-11-25, whose session the peer has opened. */
export function legacyCaller(name: string, peer: RawPeer): Caller {
  return caller(name, peer, (method, params) => peer.request(method, params));
}

function caller(
  name: string,
  peer: RawPeer,
  request: (method: string, params: JsonObject, logLevel?: string) => Promise<JsonObject>,
): Caller {
  return {
    name,
    heard: peer.heard,
    call: async (tool, args, logLevel) => textOf(await request("tools/call", { name: tool, arguments: args }, logLevel)),
    read: async (uri) => contentOf(await request("resources/read", { uri })),
    close: () => peer.close(),
  };
}

function without(members: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([key]) => key !== name));
}

/** A stream of JSON-RPC messages, both ways. */
export interface Channel {
  send(message: JsonObject): void;
  close(): Promise<void>;
}

/** Opens a stream, given what takes each of its messages and what hears that it has ended. */
export type Opening = (take: (message: JsonObject) => void, ended: (reason: Error) => void) => Promise<Channel>;

/** A peer on a stream. */
export async function streamPeer(open: Opening, answer: Answers, heard: string[] = []): Promise<RawPeer & Channel> {
  const waiting = new Map<unknown, { resolve(result: JsonObject): void; reject(error: Error): void }>();
  let count = 0;
  const take = (message: JsonObject): void => {
    heard.push(JSON.stringify(message));
    const { id, method, params, result, error } = message as Readonly<Record<string, JsonObject>>;
    if (method !== undefined) {
      if (id !== undefined) channel.send({ jsonrpc: "2.0", id, result: answer(String(method), params ?? {}) });
      return;
    }
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(result ?? {});
    else call?.reject(new Error(String(error["message"])));
  };
  const channel = await open(take, (reason) => {
    for (const call of waiting.values()) call.reject(reason);
  });
  return {
    heard,
    send: (message) => channel.send(message),
    close: () => channel.close(),
    request: (method, params) =>
      new Promise((resolve, reject) => {
        const id = ++count;
        waiting.set(id, { resolve, reject });
        channel.send({ jsonrpc: "2.0", id, method, params });
      }),
  };
}

/** What opens a legacy session. */
export const handshake: JsonObject = { protocolVersion: "2025-11-25", capabilities: offered, clientInfo: { name: "raw", version: "0" } };

/** A client of either era on a stream. */
export async function streamCaller(name: string, era: "legacy" | "modern", open: Opening): Promise<Caller> {
  const peer = await streamPeer(open, answerOf(name));
  if (era === "modern") return modernCaller(name, peer);
  await peer.request("initialize", handshake);
  peer.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  return legacyCaller(name, peer);
}
