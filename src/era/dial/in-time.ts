import { defaultTimeouts, lateHandshake } from "../../core/index.js";
import { timerMs } from "../../stream/index.js";

/** The handshake's result, or a fault if the peer does not finish it in time. */
export async function inTime<T>(handshake: Promise<T>, ms: number = defaultTimeouts.handshakeMs): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(lateHandshake(ms)), timerMs(ms));
  });
  return Promise.race([handshake, late]).finally(() => clearTimeout(timer));
}
