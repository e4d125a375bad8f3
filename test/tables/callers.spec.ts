import { expect, it } from "vitest";
import { quotaOwner } from "../../src/core/index.js";
import { openEnvelope } from "../../src/era/envelope.js";
import { KnownCallers } from "../../src/era/index.js";

it.each([
  [{ principal: "ada", remote: "127.0.0.1" }, "principal ada"],
  [{ remote: "192.0.2.7" }, "address 192.0.2.7"],
  [{ remote: "::ffff:192.0.2.7" }, "address 192.0.2.7"],
  [{ remote: "2001:db8:1:2:3:4:5:6" }, "address 2001:db8:1:2"],
  [{ remote: "2001:db8:1:2::6" }, "address 2001:db8:1:2"],
  [{ remote: "2001:db8::6" }, "address 2001:db8:0:0"],
  [{ remote: "fe80::1%eth0" }, "address fe80:0:0:0"],
  [{ remote: "::1" }, "address 0:0:0:0"],
  [{}, "caller "],
])("what %j uses up counts for its principal, its host, or all that have neither", (who, owner) => {
  expect(quotaOwner(who)).toBe(owner);
});

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

it("a key that is longer than any of Anywire's is not remembered: its caller is known for that call alone", () => {
  const callerBy = (key: string): unknown => openEnvelope("tools/list", { _meta: { "dev.anywire/caller": { key } } }).caller;
  expect(callerBy(crypto.randomUUID())).toHaveProperty("key");
  expect(callerBy("x".repeat(10_000))).toEqual({});
});
