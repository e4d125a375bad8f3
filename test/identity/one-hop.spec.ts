import { afterAll, it } from "vitest";
import { absent, rows, socketRows } from "./rows.js";
import { Chains, callersAre, figures } from "./suite.js";

const chains = new Chains();
afterAll(() => chains.closeAll());
const record = figures("one relay in front of a legacy stdio server");
for (const row of [...rows, ...socketRows]) callersAre({ row, server: "v1" }, chains, record);
for (const [what, why] of absent) it.skip(`${what}: ${why}`, () => {});
