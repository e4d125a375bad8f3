import { Fault } from "../../core/index.js";
import { HEAD } from "../http2/frames.js";

/** Bytes of the longest frame that a server may send. A frame of this length begins with a byte below 9, and no text does. */
export const STREAM_FRAME_BYTES: number = 256 * 1024;
/** Characters of the text to quote. */
const QUOTED = 200;

/**
 * Passes on HTTP/2 frames until there is something else where a frame should begin: text that a program has printed on its stdout. The
 * fault quotes it.
 */
export function strayText(pass: (bytes: Uint8Array) => void, onStray: (fault: Fault) => void): (bytes: Uint8Array) => void {
  const head = new Uint8Array(HEAD);
  let headed = 0;
  let left = 0;
  return (bytes) => {
    for (let at = 0; at < bytes.length; ) {
      if (left > 0) {
        const step = Math.min(left, bytes.length - at);
        at += step;
        left -= step;
        continue;
      }
      head[headed++] = bytes[at++] ?? 0;
      // The first byte is enough to recognise text, which may be shorter than a frame head.
      const length = ((head[0] ?? 0) << 16) | ((head[1] ?? 0) << 8) | (head[2] ?? 0);
      if (length > STREAM_FRAME_BYTES) return onStray(fault(head.subarray(0, headed), bytes.subarray(at)));
      if (headed < HEAD) continue;
      headed = 0;
      left = length;
      head.fill(0);
    }
    pass(bytes);
  };
}

function fault(begun: Uint8Array, rest: Uint8Array): Fault {
  const lines = Buffer.concat([begun, rest.subarray(0, QUOTED)])
    .toString("utf8")
    .split(/\r?\n/);
  // Banners often begin with an empty line.
  const line = lines.find((each) => each.trim() !== "") ?? "";
  const quoted = JSON.stringify(line.slice(0, QUOTED));
  return new Fault("unavailable", `the server wrote text to its stdout, where HTTP/2 is spoken: ${quoted}; print to stderr instead`, {
    data: { reason: "stray-output", text: line.slice(0, QUOTED) },
  });
}
