import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Registry } from "./registry.js";

const fixed = { seed: 7, numRuns: 500 };
/** Ids that meet in one place, of any size and sign, and some that are strings. */
const id = fc.oneof(
  fc.integer({ min: -3, max: 40 }),
  fc.integer({ min: 0, max: 12 }).map((times) => times * 4096),
  fc.maxSafeInteger(),
  fc.constantFrom("1", "2", "a"),
);
const step = fc.record({ id, what: fc.constantFrom("set", "set", "delete", "get") });

describe("registry", () => {
  test("does what a Map does", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const registry = new Registry<{ at: number }>();
        const map = new Map<number | string, { at: number }>();
        for (const [at, { id, what }] of steps.entries()) {
          if (what === "set") {
            registry.set(id, { at });
            map.set(id, { at });
          } else if (what === "delete") expect(registry.delete(id)).toBe(map.delete(id));
          expect(registry.get(id)).toEqual(map.get(id));
          expect(registry.has(id)).toBe(map.has(id));
          expect(registry.size).toBe(map.size);
        }
        for (const [key, value] of map) expect(registry.get(key)).toEqual(value);
        expect(
          registry
            .values()
            .map(({ at }) => at)
            .sort(),
        ).toEqual([...map.values()].map(({ at }) => at).sort());
        registry.clear();
        expect([registry.size, registry.values()]).toEqual([0, []]);
      }),
      fixed,
    );
  });

  test("gives values from the lowest id up", () => {
    const registry = new Registry<{ readonly id: number | string }>();
    for (const id of ["b", 33, 1, 17, 400, 2]) registry.set(id, { id });
    expect(registry.values().map(({ id }) => id)).toEqual([1, 2, 17, 33, 400, "b"]);
  });

  test("keeps up with thousands that come and go", () => {
    const registry = new Registry<{ readonly id: number }>();
    for (let id = 0; id < 20_000; id++) {
      registry.set(id, { id });
      if (id >= 5000) expect(registry.delete(id - 5000)).toBe(true);
    }
    expect(registry.size).toBe(5000);
    for (let id = 15_000; id < 20_000; id++) {
      expect(registry.get(id)).toEqual({ id });
      registry.delete(id);
    }
    expect(registry.size).toBe(0);
    registry.set(1, { id: 1 });
    expect(registry.values()).toEqual([{ id: 1 }]);
  });

  test("knows nothing of what is no id", () => {
    const registry = new Registry<object>();
    registry.set(0, {});
    for (const odd of [undefined, null, Number.NaN, 0.5, {}, "0"]) expect(registry.get(odd as never)).toBeUndefined();
  });
});
