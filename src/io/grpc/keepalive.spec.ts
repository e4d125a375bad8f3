import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { clientKeepalive, defaultKeepalive, type PingOptions, Watch } from "./keepalive.js";

const MINUTE = 60_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Counts the PINGs to a peer that answers each. */
function pinged(options: PingOptions) {
  const socket = { bytesRead: 100 };
  let pings = 0;
  const ping = (done: (error: Error | null) => void): void => {
    pings++;
    socket.bytesRead += 17;
    done(null);
  };
  const lost = vi.fn();
  const watch = new Watch({ destroyed: false, socket, ping }, options, lost);
  watch.add();
  return {
    lost,
    /** The PINGs of so many minutes. Each minute `bytes` of something else come. */
    during(minutes: number, bytes = 0): number {
      const before = pings;
      for (let at = 0; at < minutes; at++) {
        socket.bytesRead += bytes;
        vi.advanceTimersByTime(MINUTE);
      }
      return pings - before;
    },
  };
}

it("pings a quiet server no more than its like allow, and one that sends as often as before", () => {
  const peer = pinged(clientKeepalive);
  expect(peer.during(2)).toBe(3);
  expect(peer.during(20)).toBe(3);
  expect(peer.during(10, 50)).toBe(20);
  expect(peer.lost).not.toHaveBeenCalled();
});

it("pings a client, and every peer for which the interval was set, at the interval", () => {
  expect(pinged(defaultKeepalive).during(20)).toBe(40);
});
