import { describe, expect, it, vi } from "vitest";
import { DATA, frame } from "../http2/frames.js";
import { STREAM_FRAME_BYTES, strayText } from "./stray-text.js";

describe("stray text", () => {
  it("is found where a frame should begin, whatever it begins with and wherever it is cut", () => {
    const before = frame(DATA, 0, 1, new Uint8Array(STREAM_FRAME_BYTES));
    for (const text of ["Debug", "\tindented", "\n", "\u001b[31mred", "é"]) {
      const pass = vi.fn();
      const onStray = vi.fn();
      const read = strayText(pass, onStray);
      read(before.subarray(0, 7));
      read(before.subarray(7));
      expect(onStray).not.toHaveBeenCalled();
      expect(pass).toHaveBeenCalledTimes(2);
      read(Buffer.from(`${text}\nmore`));
      expect(pass).toHaveBeenCalledTimes(2);
      expect(onStray.mock.calls[0]?.[0].data).toEqual({ reason: "stray-output", text: text.trimEnd() || "more" });
    }
  });

  it("is also what a frame longer than allowed looks like", () => {
    const onStray = vi.fn();
    strayText(() => {}, onStray)(frame(DATA, 0, 1, new Uint8Array(STREAM_FRAME_BYTES + 1)));
    expect(onStray).toHaveBeenCalledTimes(1);
  });
});
