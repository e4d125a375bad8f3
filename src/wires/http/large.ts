import type { AnswerPart, Id } from "../../codec/index.js";
import { type ContentReply, envelopeMembers, Fault, type JsonObject, jsonText } from "../../core/index.js";
import type { Outlet } from "../../io/index.js";
import { type Base64Stream, base64Stream, cutText } from "../../stream/index.js";

/** The answer to a read, written while its contents arrive: one JSON object, of which only a piece is in memory at a time. */
export interface LargeAnswer {
  /** Writes a content or a chunk. Resolves once the client has room for the next. */
  part(part: AnswerPart): Promise<void>;
  /** Writes the rest of the result, and ends. */
  finish(result: JsonObject): Promise<void>;
  /** Cuts the answer: once begun, it cannot become an error. */
  abort(): void;
}

export interface LargeOptions {
  readonly id: Id;
  /** Whether it is the data of an event in a stream that has begun. */
  readonly event: boolean;
}

/** Bytes of data in one piece: a multiple of 3, for base64. */
const PIECE = 48 * 1024;
/** Characters to gather before writing: the client cannot use the answer before its end. */
const WORTH = 16 * 1024;

export function largeAnswer(outlet: Outlet, { id, event }: LargeOptions): LargeAnswer {
  let open: { readonly close: string; readonly base64?: Base64Stream } | undefined;
  let text = `${event ? "event: message\ndata: " : ""}{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"contents":[`;
  let first = true;

  const flush = async (): Promise<void> => {
    const written = text;
    text = "";
    if (written !== "") await outlet.write(written);
  };
  const close = (): void => {
    if (open !== undefined) text += `${open.base64?.finish() ?? ""}${open.close}`;
    open = undefined;
  };
  const begin = ({ form, head }: ContentReply): void => {
    close();
    const members = json(head);
    text += first ? "" : ",";
    first = false;
    if (form === "none") {
      text += members;
      return;
    }
    text += `${members.slice(0, -1)}${members === "{}" ? "" : ","}"${form}":"`;
    open = form === "blob" ? { close: '"}', base64: base64Stream() } : { close: '"}' };
  };
  const add = async (data: string | Uint8Array): Promise<void> => {
    if (open === undefined) throw new Fault("internal", "a chunk came before its content");
    const { base64 } = open;
    for (let rest = data; rest.length > 0; ) {
      const [piece, more]: readonly [string | Uint8Array, string | Uint8Array] =
        typeof rest === "string" ? cutText(rest, PIECE) : [rest.subarray(0, PIECE), rest.subarray(PIECE)];
      rest = more;
      text += typeof piece === "string" ? json(piece).slice(1, -1) : (base64?.push(piece) ?? "");
      if (text.length >= WORTH) await flush();
    }
  };

  return {
    async part(part) {
      if (part.kind === "content") begin(part);
      else if (part.kind === "chunk") await add(part.data);
    },
    async finish(result) {
      close();
      const { contents, ...rest } = result;
      text += `]${following(rest)}}${following(envelopeMembers(result) ?? {})}}${event ? "\n\n" : ""}`;
      await flush();
      outlet.end();
    },
    abort: () => outlet.abort(),
  };
}

/** Members that follow others in an object. */
function following(members: JsonObject): string {
  const text = json(members).slice(1, -1);
  return text === "" ? "" : `,${text}`;
}

function json(value: unknown): string {
  try {
    return jsonText(value);
  } catch (error) {
    throw new Fault("internal", "the answer is not JSON", { cause: error });
  }
}
