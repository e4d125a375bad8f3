import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Account, type Fault } from "../../core/index.js";
import { Inbox } from "./inbox.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const message = (length: number): Buffer => {
  const framed = Buffer.alloc(5 + length);
  framed.writeUInt32BE(length, 1);
  return framed;
};

function opened(): { readonly inbox: Inbox; readonly ends: (Fault | undefined)[] } {
  const ends: (Fault | undefined)[] = [];
  const account = new Account(undefined);
  const inbox = new Inbox({ messageBytes: 1 << 20, messageMs: 1000, account, onEnd: (fault) => ends.push(fault), onLeave() {} });
  inbox.open({ pause() {}, resume() {} });
  return { inbox, ends };
}

describe("the time of a message", () => {
  it("ends the call if the rest does not come", () => {
    const { inbox, ends } = opened();
    for (let at = 0; at < 12; at++) {
      inbox.take(at === 0 ? message(100).subarray(0, 50) : Buffer.alloc(1), false);
      vi.advanceTimersByTime(100);
    }
    expect(ends).toMatchObject([{ code: "deadline", data: { limit: "messageMs", max: 1000 } }]);
  });

  it("begins anew with each message, also where none begins with a piece of its own", async () => {
    const { inbox, ends } = opened();
    const each = message(100);
    inbox.take(each.subarray(0, 50), false);
    for (let at = 0; at < 20; at++) {
      vi.advanceTimersByTime(600);
      inbox.take(Buffer.concat([each.subarray(50), each.subarray(0, 50)]), false);
      await inbox.next();
    }
    expect(ends).toEqual([]);
  });

  it("does not run while nobody takes the messages before it", async () => {
    const { inbox, ends } = opened();
    inbox.take(Buffer.concat([message(300 * 1024), message(100).subarray(0, 50)]), false);
    vi.advanceTimersByTime(5000);
    expect(ends).toEqual([]);
    await inbox.next();
    vi.advanceTimersByTime(900);
    expect(ends).toEqual([]);
    vi.advanceTimersByTime(200);
    expect(ends.length).toBe(1);
  });
});
