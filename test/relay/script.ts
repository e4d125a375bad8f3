import { at, exact, stringAt, textOf } from "./json.js";

/** How a request is answered. Texts are the members of an object, without its braces. */
export type Outcome = { readonly result: string; readonly extra?: string } | { readonly error: string; readonly extra?: string };

/** A notification: its params are members without braces, or with `whole` any value. */
export interface Note {
  readonly params?: string;
  readonly whole?: string;
  readonly meta?: string;
  readonly extra?: string;
}

/** What a server does before it answers. */
export type Step =
  /** Sends a notification that belongs to the call. */
  | (Note & { readonly note: string })
  /** Asks the client, which may send a notification before it answers; `@token` there is that of the question. */
  | (Note & { readonly ask: string; readonly said?: Note & { readonly method: string }; readonly answer: Outcome })
  /** Hears a notification of the client. */
  | (Note & { readonly said: string });

/**
 * One exchange. Texts are members without their braces; of `meta` those of `_meta`, to which a modern request adds what it has to say. `@token` stands
 * for the progress token and `@id` for the id of the call, as each side knows them.
 */
export type Script = Note & { readonly name: string; readonly method: string } & (
    | { readonly kind: "call"; readonly steps?: readonly Step[]; readonly answer: Outcome | "none" }
    | { readonly kind: "client note" }
    /** So many in one go, numbered by `@n`. */
    | { readonly kind: "server note"; readonly times?: number }
  );

const io = "io.modelcontextprotocol";
const stamps = `"${io}/protocolVersion":"2026-07-28","${io}/clientInfo":{"name":"raw","title":"Raw","version":"0","x-info":[1]},"${io}/clientCapabilities":{"elicitation":{"form":{},"x":-0},"sampling":{},"roots":{"listChanged":true},"experimental":{"x":{"y":null}}}`;

/** The text of the params of a message; `stamped` is that of a modern request. */
export function paramsText({ params, whole, meta }: Note, stamped = false): string | undefined {
  if (whole !== undefined) return stamped ? withStamps(whole) : whole;
  const inner = stamped ? (meta === undefined ? stamps : `${stamps},${meta}`) : meta;
  if (inner === undefined) return params === undefined ? undefined : `{${params}}`;
  return `{${params === undefined || params === "" ? "" : `${params},`}"_meta":{${inner}}}`;
}

/** Whole params with what a modern request has to say, where they do not say it. */
function withStamps(whole: string): string {
  const params = exact(whole);
  if (params.kind !== "object" || stringAt(params, "_meta", `${io}/protocolVersion`) !== undefined) return whole;
  const own = at(params, "_meta");
  const inner = own?.kind === "object" && own.members.length > 0 ? `${stamps},${textOf(own).slice(1, -1)}` : stamps;
  const rest = params.members.filter(([name]) => name !== "_meta").map(([name, value]) => `${JSON.stringify(name)}:${textOf(value)},`);
  return `{${rest.join("")}"_meta":{${inner}}}`;
}

export function noteText(method: string, note: Note): string {
  return messageText(undefined, methodText(method, paramsText(note)), note.extra);
}

export function messageText(id: string | undefined, rest: string, extra?: string): string {
  return `{"jsonrpc":"2.0",${id === undefined ? "" : `"id":${id},`}${rest}${extra === undefined ? "" : `,${extra}`}}`;
}

export function methodText(method: string, params: string | undefined): string {
  return `"method":${JSON.stringify(method)}${params === undefined ? "" : `,"params":${params}`}`;
}

export function outcomeText(outcome: Outcome): string {
  return "result" in outcome ? `"result":{${outcome.result}}` : `"error":{${outcome.error}}`;
}
