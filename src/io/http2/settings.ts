import { broken } from "./broken.js";
import {
  ENABLE_PUSH,
  FLOW_CONTROL_ERROR,
  FRAME_BYTES,
  FRAME_SIZE_ERROR,
  INITIAL_WINDOW_SIZE,
  LARGEST_WINDOW,
  MAX_FRAME_SIZE,
  PROTOCOL_ERROR,
  readUint32,
} from "./frames.js";

const ENTRY = 6;

/** Calls `take` with each setting of a frame. Throws for values that the peer must not send: only a client may allow pushing. */
export function readSettings(payload: Uint8Array, ofClient: boolean, take: (name: number, value: number) => void): void {
  if (payload.length % ENTRY !== 0) throw broken(FRAME_SIZE_ERROR, "the server sent settings of a wrong length");
  for (let at = 0; at < payload.length; at += ENTRY) {
    const name = (payload[at] ?? 0) * 256 + (payload[at + 1] ?? 0);
    const value = readUint32(payload, at + 2);
    check(name, value, ofClient);
    take(name, value);
  }
}

function check(name: number, value: number, ofClient: boolean): void {
  switch (name) {
    case ENABLE_PUSH:
      if (value > (ofClient ? 1 : 0)) throw broken(PROTOCOL_ERROR, "the server wants to push, which it may not");
      return;
    case INITIAL_WINDOW_SIZE:
      if (value > LARGEST_WINDOW) throw broken(FLOW_CONTROL_ERROR, "the server opened a window too far");
      return;
    case MAX_FRAME_SIZE:
      if (value < FRAME_BYTES || value >= 2 ** 24) throw broken(PROTOCOL_ERROR, "the server's length of frames is not allowed");
      return;
    default:
    // Any other value is valid, and unknown settings must be ignored.
  }
}
