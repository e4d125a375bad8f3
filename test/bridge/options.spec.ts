import { expect, it } from "vitest";
import { bridge } from "../../src/bridge/index.js";
import { Ledger } from "./support.js";

it.each([
  [{ listen: [] }, /listen of a bridge takes at least one address/],
  [{ sessions: "pool=2" }, /sessions of a bridge takes "auto", "shared", "own" or \{ pool: N \}/],
  [{ sessions: { pool: 0 } }, /N from 1 up/],
  [{ sessions: { pool: 1.5 } }, /N from 1 up/],
  [{ sessions: null }, /N from 1 up/],
  [{ offer: ["elicit"] }, /offer of a bridge takes elicitation, sampling, roots, not "elicit"/],
  [{ maxUpstreams: 0 }, /maxUpstreams of a bridge takes a number from 1 up, not 0/],
  [{ poolSize: Number.NaN }, /poolSize of a bridge takes a number from 1 up, not NaN/],
  [{ waitMs: -1 }, /waitMs of a bridge takes milliseconds, more than 0, not -1/],
  [{ idleStopMs: 0 }, /idleStopMs of a bridge takes milliseconds/],
])("refuses %j before anything is started", async (options, message) => {
  const ledger = new Ledger();
  const made = bridge({ listen: ["http://127.0.0.1:0"], to: ledger.command, ...(options as object) });
  await expect(made).rejects.toMatchObject({ code: "invalid-params", message: expect.stringMatching(message) });
  expect(ledger.pids).toEqual([]);
});
