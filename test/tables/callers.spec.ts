import { expect, it } from "vitest";
import { KnownCallers } from "../../src/era/index.js";

it("whoever names many callers has its own idle ones forgotten, and nobody else's", () => {
  const callers = new KnownCallers();
  const other = callers.lease("other", { principal: "b" });
  other.release();
  const first = callers.lease("0", { principal: "a" });
  first.release();
  for (let count = 1; count <= 20_000; count++) callers.lease(String(count), { principal: "a" }).release();
  expect(first.identity.ended.fired).toBe(true);
  expect(other.identity.ended.fired).toBe(false);
  const again = callers.lease("other", { principal: "b" });
  expect(again.identity).toBe(other.identity);
  callers.close();
});
