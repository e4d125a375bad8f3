import { Fault, messageTooLarge } from "../core/index.js";
import { concat } from "../stream/index.js";

const HEAD = 5;
/** The flag of the last envelope of a stream, which says how it ended. */
const LAST = 2;

/** The head that Connect writes before a message of a stream. */
export function envelopeHead(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new Uint8Array(HEAD);
  new DataView(head.buffer).setUint32(1, message.byteLength);
  return head;
}

export interface OpenedEnvelopes {
  readonly messages: readonly Uint8Array[];
  readonly last?: Uint8Array | undefined;
}

/** The messages of a stream as they come, all that are whole at a time. */
export async function* envelopes(chunks: AsyncIterable<Uint8Array>, max: number): AsyncGenerator<OpenedEnvelopes> {
  let held: Uint8Array[] = [];
  let length = 0;
  let wanted = HEAD;
  for await (const chunk of chunks) {
    held.push(chunk);
    length += chunk.byteLength;
    if (length < wanted) continue;
    const bytes = concat(held);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const messages: Uint8Array[] = [];
    let last: Uint8Array | undefined;
    let at = 0;
    for (wanted = HEAD; length - at >= HEAD && last === undefined; ) {
      const flags = view.getUint8(at);
      const size = view.getUint32(at + 1);
      if (size > max) throw messageTooLarge(max);
      wanted = HEAD + size;
      if (length - at < wanted) break;
      const message = bytes.subarray(at + HEAD, at + wanted);
      if (flags === LAST) last = message;
      else if (flags === 0) messages.push(message);
      else throw new Fault("internal", `a message begins with the flags ${flags}, which mean nothing here`);
      at += wanted;
      wanted = HEAD;
    }
    held = at === length ? [] : [bytes.subarray(at)];
    length -= at;
    yield { messages, last };
  }
}
