import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import { defaultLimits, type Held, type Limits } from "../../core/index.js";
import { timerMs } from "../../stream/index.js";

/** Bytes that may wait for a peer before only its last ping is answered. */
const UNREAD = 64 * 1024;

/** Bytes of a control frame in addition to its data. */
const CONTROL_HEAD = 6;

/** Counts an incomplete message, limits its time, and answers pings only as far as the answers are read. */
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
    // An incomplete message cannot wait for room: its missing part would need more.
    const over = held.count(bytes);
    if (over !== undefined) return socket.close(1009, over.message.slice(0, 120));
    late ??= setTimeout(() => socket.close(1008, `a message did not arrive whole within ${messageMs} ms`), timerMs(messageMs)).unref();
  };
  /** A control frame has arrived, alone or between the frames of a message. Its bytes do not belong to the message. */
  const control = (data: Uint8Array): void => {
    bytes -= Math.min(bytes, CONTROL_HEAD + data.length);
    if (bytes === 0) whole();
  };
  // Before the frame parser, so that a message has been counted when the parser completes it.
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
