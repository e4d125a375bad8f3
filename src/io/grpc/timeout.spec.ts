import { describe, expect, it } from "vitest";
import { formatTimeout, parseTimeout } from "./timeout.js";

describe("grpc-timeout", () => {
  it("reads every unit", () => {
    expect(["2H", "3M", "4S", "5m", "6000u", "7000000n", "0S", "99999999H"].map(parseTimeout)).toEqual([
      7_200_000,
      180_000,
      4000,
      5,
      6,
      7,
      0,
      99_999_999 * 3_600_000,
    ]);
  });

  it("reads nothing into what is no timeout", () => {
    for (const text of ["", "1", "S", "1s", "-1S", "1.5S", "123456789S", " 1S", "1S ", "1SS"]) expect(parseTimeout(text)).toBeUndefined();
  });

  it("writes at most eight digits, and never a shorter time", () => {
    for (const ms of [0.0004, 0.5, 1, 1.5, 999, 99_999_999, 100_000_000, 5e9, 1e11, 1e13, 1e16]) {
      const text = formatTimeout(ms);
      expect(text).toMatch(/^\d{1,8}[HMSmun]$/);
      expect(parseTimeout(text)).toBeGreaterThanOrEqual(Math.min(ms, 99_999_999 * 3_600_000));
    }
    expect([formatTimeout(250), formatTimeout(-5), formatTimeout(0.25)]).toEqual(["250m", "0n", "250u"]);
  });
});
