import { describe, expect, it } from "vitest";
import { pace } from "./pace.js";

describe("pace", () => {
  it("lets go what has credit and holds back the rest, in order", () => {
    const went: string[] = [];
    const paces = pace(1_000);
    paces.open(1, 100);
    for (const what of ["a", "b", "c"]) paces.take(1, 60, () => went.push(what));
    paces.last(1, () => went.push("end"));
    // One more than there is credit for, so that a message above the whole window passes too.
    expect(went).toEqual(["a", "b"]);
    paces.grant(1, 0);
    expect(went).toEqual(["a", "b"]);
    paces.grant(1, 1);
    expect(went).toEqual(["a", "b", "c"]);
    paces.grant(1, 2);
    expect(went).toEqual(["a", "b", "c", "end"]);
  });

  it("holds back one call and no other, nor what belongs to none", () => {
    const went: string[] = [];
    const paces = pace(1_000);
    paces.open(1, 10);
    paces.open("1", 10);
    paces.take(1, 10, () => went.push("first"));
    paces.take(1, 10, () => went.push("held"));
    paces.take("1", 10, () => went.push("other"));
    paces.take(7, 10, () => went.push("none"));
    expect(went).toEqual(["first", "other", "none"]);
  });

  it("never grants more than the window", () => {
    const went: number[] = [];
    const paces = pace(1_000);
    paces.open(1, 100);
    paces.grant(1, 10);
    for (let at = 0; at < 5; at++) paces.take(1, 50, () => went.push(at));
    expect(went).toEqual([0, 1]);
  });

  it("lets go what waits when nobody grants any more, or when too much waits", () => {
    for (const end of ["release", "close", "limit"] as const) {
      const went: number[] = [];
      const paces = pace(100);
      paces.open(1, 10);
      for (let at = 0; at < 3; at++) paces.take(1, 40, () => went.push(at));
      expect(went).toEqual([0]);
      if (end === "release") paces.release(1);
      else if (end === "close") paces.close();
      else paces.take(1, 40, () => went.push(3));
      expect(went).toEqual(end === "limit" ? [0, 1, 2, 3] : [0, 1, 2]);
      paces.take(1, 1_000, () => went.push(9));
      expect(went.at(-1)).toBe(9);
    }
  });
});
