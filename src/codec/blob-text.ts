import { isId } from "./guards.js";
import type { Id, IncomingNotification, OutgoingNotification } from "./jsonrpc.js";

/** The notification that carries a part of an answer between Anywire ends, if the link has no other way to carry it. */
export const PART = "notifications/dev.anywire/part";

/** A notification with a chunk of bytes is written and read by hand: JSON takes four times as long for base64 as for everything else. */
const HEAD = `{"jsonrpc":"2.0","method":"${PART}","params":{"call":`;
const MIDDLE = ',"blob":"';
/** The blob begins within this many characters, if the id of its call has no more than 64. */
export const BLOB_HEAD: number = HEAD.length + 64 + MIDDLE.length;
/** The text after the blob. */
export const BLOB_TAIL = '"}}';

/** The text of a notification with a blob, in three pieces: before the blob, the blob, and after it. */
export function blobPieces(blob: string, { params }: OutgoingNotification): readonly [head: string, blob: string, tail: string] {
  return [`${HEAD}${JSON.stringify(params?.["call"])}${MIDDLE}`, blob, BLOB_TAIL];
}

/** The text in one piece. */
export function blobText(blob: string, message: OutgoingNotification): string {
  return blobPieces(blob, message).join("");
}

/** What blobText() wrote; undefined for any other text. That the blob is base64 is for its reader to see: what is not JSON is not base64 either. */
export function readBlobText(text: string): IncomingNotification | undefined {
  const head = text.endsWith(BLOB_TAIL) ? blobHead(text) : undefined;
  if (head === undefined) return undefined;
  return { kind: "notification", method: PART, params: { call: head.call, blob: text.slice(head.length, -BLOB_TAIL.length) } };
}

/** The call that such a text names before its blob, and the length of that part. */
export function blobHead(text: string): { readonly call: Id; readonly length: number } | undefined {
  if (!text.startsWith(HEAD)) return undefined;
  const middle = text.slice(HEAD.length, BLOB_HEAD).indexOf(MIDDLE);
  const call = middle < 0 ? undefined : idOf(text.slice(HEAD.length, HEAD.length + middle));
  return call === undefined ? undefined : { call, length: HEAD.length + middle + MIDDLE.length };
}

const plainId = /^(?:\d{1,15}|"[\w-]*")$/;

function idOf(text: string): Id | undefined {
  const id: unknown = plainId.test(text) ? JSON.parse(text) : undefined;
  return isId(id) ? id : undefined;
}
