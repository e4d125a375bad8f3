import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import { defaultLimits, type Held, type Limits } from "../../core/index.js";

/** Bytes that may wait for a peer before its pings are not answered each: only the last one has to be. */
const UNREAD = 64 * 1024;

/** Bytes of a control frame beside its data. */
const CONTROL_HEAD = 6;

/** Counts a message that is incomplete, gives it its time, and answers pings only as far as the answers are read. */
export function boundIncoming(socket: WebSocket, connection: Duplex, held: Held, limits: Partial<Limits> | undefined): void {
  const messageMs = limits?.messageMs ?? defaultLimits.messageMs;
  let bytes = 0;
  let late: NodeJS.Timeout | undefined;
  const whole = (): void => {
    bytes = 0;
    held.free();
    clearTimeout(late);
    late = undefined;
  };
  const onData = (chunk: Uint8Array): void => {
    bytes += chunk.length;
    if (bytes <= chunk.length) return;
    // What is incomplete cannot wait until there is room: what is missing would take more.
    const over = held.count(bytes);
    if (over !== undefined) return socket.close(1009, over.message.slice(0, 120));
    late ??= setTimeout(() => socket.close(1008, `a message did not arrive whole within ${messageMs} ms`), messageMs).unref();
  };
  /** A control frame has come, alone or between those of a message: it is none of its bytes, but for head and mask. */
  const control = (data: Uint8Array): void => {
    bytes -= Math.min(bytes, CONTROL_HEAD + data.length);
    if (bytes === 0) whole();
  };
  // Before the reader of the frames, so that a message which it finds whole has been counted.
  connection.prependListener("data", onData);
  socket.on("message", whole);
  let waiting: Buffer | undefined;
  socket.on("ping", (data) => {
    control(data);
    if (waiting !== undefined || socket.bufferedAmount > UNREAD) waiting = data;
    else socket.pong(data);
  });
  socket.on("pong", control);
  const onDrain = (): void => {
    const data = waiting;
    waiting = undefined;
    if (data !== undefined && socket.readyState === WebSocket.OPEN) socket.pong(data);
  };
  connection.on("drain", onDrain);
  socket.on("close", () => {
    whole();
    connection.off("data", onData);
    connection.off("drain", onDrain);
  });
}
