import {
  type Context,
  extended,
  Fault,
  guard,
  isObject,
  type JsonObject,
  type Replies,
  type Reply,
  type Request,
} from "../../core/index.js";
import { cutText, decodeBase64 } from "../../stream/index.js";
import { own, RANGE_BYTES } from "../keys.js";
import { questions } from "../questions.js";
import { sizeOf } from "../size.js";

/** What a ranged read needs of the link it is made on. */
export interface RangePeer {
  call(request: Request, context: Context): Replies;
  /** Tells the peer that nobody will come for what it keeps. */
  release(kept: JsonObject): void;
}

/** A read from an Anywire peer: range after range, so that neither end holds the resource and the link is never blocked for long. */
export function rangedRead(peer: RangePeer, request: Request, context: Context): Replies {
  return guard((inner) => ranges(peer, request, inner), context);
}

async function* ranges(peer: RangePeer, request: Request, context: Context): AsyncGenerator<Reply, JsonObject> {
  const { range, ...plain } = context;
  const length = Math.min(range?.chunkSize ?? RANGE_BYTES, RANGE_BYTES);
  const given = isObject(request.params["_meta"]) ? request.params["_meta"] : undefined;
  // Answers belong to one request alone: the call that has them is parked.
  const { inputResponses, requestState, ...bare } = request.params;
  const place = new Place(range?.offset ?? 0);
  let params = request.params;
  /** What the peer keeps for the next request. */
  let kept: JsonObject | undefined;
  try {
    for (;;) {
      const asked: Record<string, unknown> = { offset: place.offset, length };
      if (kept?.["next"] !== undefined) asked["next"] = kept["next"];
      kept = undefined;
      let result: JsonObject | undefined;
      const sent = { method: request.method, params: extended(params, { _meta: extended(given, { [own.range]: asked }) }) };
      for await (const reply of peer.call(sent, plain)) {
        if (reply.kind === "result") result = reply.value;
        else yield reply;
      }
      if (result === undefined) throw new Fault("unavailable", "the read ended without a result");
      params = bare;
      // A read that has begun cannot end with what its server wants to know: its caller would not find the way back.
      if (place.contents > 0 && result["resultType"] === "input_required") {
        kept = { requestState: result["requestState"] };
        const { asks, answers } = questions(result["inputRequests"] ?? {}, context.cancel);
        for (const ask of asks) yield { kind: "ask", ask };
        params = { ...bare, inputResponses: await answers, ...kept };
        continue;
      }
      const { contents, _meta, ...rest } = result;
      const { [own.range]: said, ...others } = isObject(_meta) ? _meta : ({} as JsonObject);
      if (!isObject(said) || !Array.isArray(contents)) {
        if (place.contents > 0) throw lost();
        // A small resource came whole, or the server asks for input: the caller sees it as it is.
        return result;
      }
      if (typeof said["next"] === "string") kept = { next: said["next"] };
      if (said["anew"] === true) place.anew();
      const pieces = Array.isArray(said["pieces"]) ? said["pieces"] : [];
      for (const [at, content] of contents.entries()) {
        if (!isObject(content)) throw new Fault("invalid-request", "the server sent a content that is no object");
        yield* place.replies(isObject(pieces[at]) ? pieces[at] : {}, content);
      }
      if (kept === undefined) return Object.keys(others).length > 0 ? { ...rest, _meta: others } : rest;
    }
  } finally {
    if (kept !== undefined) peer.release(kept);
  }
}

/** How far a read has come: what its server needs to go on, should it have let go of it. */
class Place {
  /** Of the next byte, in the content that has begun last. */
  offset: number;
  /** How many have begun. */
  contents = 0;
  /** What is being told again. */
  #again: "nothing" | "head" | "data" = "nothing";
  /** Bytes to leave out of that. */
  #known = 0;

  constructor(offset: number) {
    this.offset = offset;
  }

  /** The server begins anew, at the offset or before it: what is known already is left out. */
  anew(): void {
    // Offsets count within a content, so with several the place is not found again.
    if (this.contents > 1) throw lost();
    if (this.contents === 1) this.#again = "head";
  }

  *replies(piece: JsonObject, content: JsonObject): Generator<Reply> {
    const { text, blob, ...head } = content;
    if (piece["start"] === true) yield* this.#begin(piece, head);
    const data = typeof text === "string" ? text : octetsOf(blob);
    const news = data === undefined ? undefined : this.#news(data);
    if (news === undefined || news.length === 0) return;
    this.offset += sizeOf(news);
    yield { kind: "chunk", data: news };
  }

  *#begin(piece: JsonObject, head: JsonObject): Generator<Reply> {
    const start = typeof piece["offset"] === "number" ? piece["offset"] : 0;
    if (this.#again === "head") {
      this.#again = "data";
      this.#known = this.offset - start;
      if (this.#known < 0) throw lost();
      return;
    }
    if (this.#again === "data" && this.#known > 0) throw lost();
    this.contents++;
    this.offset = start;
    yield {
      kind: "content",
      form: piece["form"] as "text" | "blob" | "none",
      head,
      ...(typeof piece["offset"] === "number" ? { offset: start } : undefined),
      ...(typeof piece["size"] === "number" ? { size: piece["size"] } : undefined),
    };
  }

  #news(data: string | Uint8Array): string | Uint8Array {
    if (this.#known === 0) return data;
    const [told, news] =
      typeof data === "string" ? cutText(data, this.#known) : [data.subarray(0, this.#known), data.subarray(this.#known)];
    this.#known = Math.max(0, this.#known - sizeOf(told));
    return news;
  }
}

/** Base64 from a link of text, octets from one that carries them as they are. */
function octetsOf(blob: unknown): Uint8Array | undefined {
  if (typeof blob !== "string") return blob instanceof Uint8Array ? blob : undefined;
  try {
    return decodeBase64(blob);
  } catch (cause) {
    throw new Fault("invalid-request", "the server sent a blob that is no base64", { cause });
  }
}

function lost(): Fault {
  return new Fault("unavailable", "the server let go of the read before its end", { data: { reason: "expired" } });
}
