import { askChecks } from "./asks.js";
import { callChecks } from "./calls.js";
import type { Check } from "./check.js";
import { dataChecks } from "./data.js";
import { flowChecks } from "./flow.js";

export { ContractError } from "./assert.js";
export type { Check, Subject } from "./check.js";
export { contractService } from "./service.js";

/** What every wire has to keep, in either era. Run each with the runner of your choice. */
export const contract: readonly Check[] = [...callChecks, ...flowChecks, ...dataChecks, ...askChecks];
