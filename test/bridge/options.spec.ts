import { expect, it } from "vitest";
import { bridge } from "../../src/bridge/index.js";
import { Ledger } from "./support.js";

it.each([undefined, { listen: ["http://127.0.0.1:0"] }])("bridge(%j) asks for the server, and shows how it is written", async (options) => {
  const message = expect.stringMatching(/option to of bridge\(\) is the server.*such as bridge\(\{ listen: \["any:/);
  await expect(bridge(options as never)).rejects.toMatchObject({ code: "invalid-params", message });
});

it.each([
  [{ listen: undefined }, /listen of bridge\(\) takes a list of addresses/],
  [{ listen: "any://127.0.0.1:0" }, /listen of bridge\(\) takes a list of addresses/],
  [{ listen: [] }, /listen of bridge\(\) takes a list of addresses/],
  [{ sessions: "Own" }, /not "Own"/],
  [{ sessions: "pool=2" }, /sessions of bridge\(\) takes "auto", "shared", "own" or \{ pool: N \}/],
  [{ sessions: { pool: 0 } }, /N from 1 up/],
  [{ sessions: { pool: 1.5 } }, /N from 1 up/],
  [{ sessions: null }, /N from 1 up/],
  [{ offer: ["elicit"] }, /offer of bridge\(\) takes a list of elicitation, sampling, roots, not \["elicit"\]/],
  [{ maxUpstreams: 0 }, /maxUpstreams of bridge\(\) takes a number from 1 up, not 0/],
  [{ poolSize: Number.NaN }, /poolSize of bridge\(\) takes a number from 1 up, not NaN/],
  [{ waitMs: -1 }, /waitMs of bridge\(\) takes milliseconds, more than 0, not -1/],
  [{ idleStopMs: 0 }, /idleStopMs of bridge\(\) takes milliseconds/],
])("refuses %j before anything is started", async (options, message) => {
  const ledger = new Ledger();
  const made = bridge({ listen: ["http://127.0.0.1:0"], to: ledger.command, ...(options as object) });
  await expect(made).rejects.toMatchObject({ code: "invalid-params", message: expect.stringMatching(message) });
  expect(ledger.pids).toEqual([]);
});
