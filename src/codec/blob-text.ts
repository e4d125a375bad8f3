import type { Id, IncomingNotification, OutgoingNotification } from "./jsonrpc.js";

/** The notification that carries a part of an answer between Anywire ends, where a link has no other way for it. */
export const PART = "notifications/dev.anywire/part";

/** A chunk of bytes as such a notification is written and read by hand: JSON takes four times as long over base64 as all the rest. */
const HEAD = `{"jsonrpc":"2.0","method":"${PART}","params":{"call":`;
const MIDDLE = ',"blob":"';
const TAIL = '"}}';
/** Characters of the longest id that is looked for. */
const ID = 64;

/** The text of a notification with a blob. */
export function blobText(blob: string, { params }: OutgoingNotification): string {
  return `${HEAD}${JSON.stringify(params?.["call"])}${MIDDLE}${blob}${TAIL}`;
}

/** What blobText() wrote; undefined for any other text. That the blob is base64 is for its reader to see: what is no JSON is no base64 either. */
export function readBlobText(text: string): IncomingNotification | undefined {
  if (!text.startsWith(HEAD) || !text.endsWith(TAIL)) return undefined;
  const middle = text.slice(HEAD.length, HEAD.length + ID).indexOf(MIDDLE);
  const call = middle < 0 ? undefined : idOf(text.slice(HEAD.length, HEAD.length + middle));
  if (call === undefined) return undefined;
  return { kind: "notification", method: PART, params: { call, blob: text.slice(HEAD.length + middle + MIDDLE.length, -TAIL.length) } };
}

const plainId = /^(?:\d{1,15}|"[\w-]*")$/;

function idOf(text: string): Id | undefined {
  return plainId.test(text) ? (JSON.parse(text) as Id) : undefined;
}
