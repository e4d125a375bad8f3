const utf8 = new TextEncoder();
const text = new TextDecoder();

/** A `grpc-message`: printable ASCII stays, all else and the percent sign become `%XX` of UTF-8. */
export function encodeMessage(message: string): string {
  if (!/[^\x20-\x24\x26-\x7e]/.test(message)) return message;
  let encoded = "";
  for (const byte of utf8.encode(message)) {
    encoded +=
      byte >= 0x20 && byte <= 0x7e && byte !== 0x25 ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return encoded;
}

/** Never fails: a percent sign that begins no `%XX` stays as it is. */
export function decodeMessage(encoded: string): string {
  if (!encoded.includes("%")) return encoded;
  const bytes: number[] = [];
  for (let at = 0; at < encoded.length; at++) {
    const hex = encoded[at] === "%" ? encoded.slice(at + 1, at + 3) : "";
    if (/^[0-9A-Fa-f]{2}$/.test(hex)) {
      bytes.push(Number.parseInt(hex, 16));
      at += 2;
    } else {
      bytes.push(encoded.charCodeAt(at) & 0xff);
    }
  }
  return text.decode(Uint8Array.from(bytes));
}
