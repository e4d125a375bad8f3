import { benches } from "./benches.js";

// Runs the bench that the argument names, and sends its outcome to the process that started this one.
const outcome = await benches.find(({ name }) => name === process.argv[2])?.run();
process.send?.(outcome, () => process.disconnect());
