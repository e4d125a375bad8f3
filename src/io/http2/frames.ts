/** The parts of HTTP/2 (RFC 9113), by number. */
export const DATA = 0;
export const HEADERS = 1;
export const PRIORITY = 2;
export const RST_STREAM = 3;
export const SETTINGS = 4;
export const PUSH_PROMISE = 5;
export const PING = 6;
export const GOAWAY = 7;
export const WINDOW_UPDATE = 8;
export const CONTINUATION = 9;

export const END_STREAM = 0x1;
export const ACK = 0x1;
export const END_HEADERS = 0x4;
export const PADDED = 0x8;
export const PRIORITISED = 0x20;

export const NO_ERROR = 0;
export const PROTOCOL_ERROR = 1;
export const INTERNAL_ERROR = 2;
export const FLOW_CONTROL_ERROR = 3;
export const STREAM_CLOSED = 5;
export const FRAME_SIZE_ERROR = 6;
export const REFUSED_STREAM = 7;
export const CANCEL = 8;
export const COMPRESSION_ERROR = 9;
export const ENHANCE_YOUR_CALM = 11;

/** Settings by their number. */
export const HEADER_TABLE_SIZE = 1;
export const ENABLE_PUSH = 2;
export const MAX_CONCURRENT_STREAMS = 3;
export const INITIAL_WINDOW_SIZE = 4;
export const MAX_FRAME_SIZE = 5;
export const MAX_HEADER_LIST_SIZE = 6;

export const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
export const HEAD = 9;
export const PING_BYTES = 8;
/** Bytes of a frame, and of a window, until settings change them. */
export const FRAME_BYTES: number = 16 * 1024;
export const FIRST_WINDOW = 65_535;
export const LARGEST_WINDOW: number = 2 ** 31 - 1;
export const LAST_STREAM: number = 2 ** 31 - 1;

/** Writes the head of a frame in front of its payload. */
export function writeHead(into: Uint8Array, length: number, type: number, flags: number, id: number): void {
  into[0] = length >>> 16;
  into[1] = length >>> 8;
  into[2] = length;
  into[3] = type;
  into[4] = flags;
  writeUint32(into, 5, id);
}

/** A frame whose payload is copied. */
export function frame(type: number, flags: number, id: number, payload: Uint8Array | undefined): Uint8Array {
  const length = payload?.length ?? 0;
  const bytes = Buffer.allocUnsafe(HEAD + length);
  writeHead(bytes, length, type, flags, id);
  if (payload !== undefined) bytes.set(payload, HEAD);
  return bytes;
}

/** A frame whose payload is a list of 32-bit numbers. */
export function numbers(type: number, id: number, ...values: readonly number[]): Uint8Array {
  const length = values.length * 4;
  const bytes = Buffer.allocUnsafe(HEAD + length);
  writeHead(bytes, length, type, 0, id);
  values.forEach((value, at) => {
    writeUint32(bytes, HEAD + at * 4, value);
  });
  return bytes;
}

export function settings(values: readonly (readonly [number, number])[]): Uint8Array {
  const payload = new Uint8Array(values.length * 6);
  values.forEach(([name, value], at) => {
    payload[at * 6 + 1] = name;
    writeUint32(payload, at * 6 + 2, value);
  });
  return frame(SETTINGS, 0, 0, payload);
}

export function readUint32(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) * 0x1000000 + (((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0));
}

/** Ignores the first bit, which is reserved. */
export function readUint31(bytes: Uint8Array, at: number): number {
  return readUint32(bytes, at) % 0x80000000;
}

export function writeUint32(into: Uint8Array, at: number, value: number): void {
  into[at] = value >>> 24;
  into[at + 1] = value >>> 16;
  into[at + 2] = value >>> 8;
  into[at + 3] = value;
}
