import type { JsonObject } from "../../src/api/index.js";

/** A client of one person, whose name is in every secret that it sends and in every answer that it gives. */
export interface Caller {
  readonly name: string;
  /** Everything that arrived, as text, in the order of arrival. */
  readonly heard: readonly string[];
  /** Milliseconds after which a call of it counts as hung; `WAIT_MS` unless given. */
  readonly waitMs?: number | undefined;
  /** The text of the tool's result. Rejects with the error that the call ended with, also with one that the tool returned. */
  call(tool: string, args: JsonObject, logLevel?: string): Promise<string>;
  /** The text of a resource. */
  read(uri: string): Promise<string>;
  close(): Promise<void>;
}

/** What a legacy server may ask a relay, which passes it on to the client that it belongs to. */
export const offered: JsonObject = { elicitation: {}, sampling: {}, roots: {} };

/** What answers the requests of a server. */
export type Answers = (method: string, params: JsonObject) => Promise<JsonObject>;

let questions = 0;

/** How a person answers what a server asks: everyone can see who did, and what the question was. It takes a person a moment. */
export function answerOf(name: string): Answers {
  return async (method, params) => {
    await new Promise((resolve) => setTimeout(resolve, (++questions * 7) % 20));
    if (method === "elicitation/create") return { action: "accept", content: { answer: `${name} says ${params["message"]}` } };
    if (method === "roots/list") return { roots: [{ uri: `file:///${name}` }] };
    const [first] = params["messages"] as { content: { text: string } }[];
    return { role: "assistant", model: "m", content: { type: "text", text: `${name} says ${first?.content.text}` } };
  };
}

export const WAIT_MS = 10_000;

/** Waits for a promise, and not for ever. */
export function within<T>(what: string, promise: Promise<T>, ms: number = WAIT_MS): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Hung(`${what} hung: nothing came within ${ms / 1000} s`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** The one thing that must never happen. */
export class Hung extends Error {}

/** The text of a result, if it is one of success. */
export function textOf(result: JsonObject): string {
  const [first] = (result["content"] ?? []) as readonly { text?: string }[];
  if (result["isError"] === true) throw new Error(first?.text ?? "an error without text");
  return first?.text ?? "";
}

/** The text of the one content of a read. */
export function contentOf(result: JsonObject): string {
  const [first] = (result["contents"] ?? []) as readonly { text?: string }[];
  return first?.text ?? "";
}
