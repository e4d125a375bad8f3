const utf8 = new TextEncoder();
const text = new TextDecoder("utf-8", { ignoreBOM: true });

/** The most characters of a `grpc-message`: common peers and proxies refuse more than 8 KiB of trailers. */
const MOST = 2048;

/** Characters for the notice that a message was cut. */
const NOTICE = 64;

/**
 * A `grpc-message`: printable ASCII stays; everything else, the percent sign and a space at either end become `%XX` of UTF-8. A header must
 * not begin or end with a space. A long message is cut, and says so.
 */
export function percentEncode(message: string): string {
  const encoded = encodedStart(message);
  if (encoded.length <= MOST) return encoded;
  // Not cut inside a %XX or a character.
  const kept = encoded.slice(0, MOST - NOTICE).replace(/(%[C-F][0-9A-F](%[89AB][0-9A-F])*)?(%[0-9A-F]?)?$/, "");
  return `${kept}... [cut: ${percentDecode(kept).length} of ${message.length} characters]`;
}

/** Whether a message fits into a status whole. */
export function fitsStatus(message: string): boolean {
  return encodedStart(message).length <= MOST;
}

/** The encoded message, or enough of a long one to see that it is too long. */
function encodedStart(message: string): string {
  return percentEncoded(message.length > MOST ? message.slice(0, MOST + 1) : message);
}

function percentEncoded(message: string): string {
  if (!/^ |[^\x20-\x24\x26-\x7e]| $/.test(message)) return message;
  let encoded = "";
  for (const byte of utf8.encode(message)) {
    encoded +=
      byte >= 0x20 && byte <= 0x7e && byte !== 0x25 ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return encoded.replace(/^ /, "%20").replace(/ $/, "%20");
}

/** Never fails: a percent sign that does not begin a `%XX` stays as it is. */
export function percentDecode(encoded: string): string {
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
