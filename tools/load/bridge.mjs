// A bridge in a process of its own, started with --expose-gc: its argument has the options, as JSON. It sends where it listens, and answers every message with what it holds.
import { getHeapCodeStatistics } from "node:v8";
import { bridge } from "../../dist/bridge/index.js";

const made = await bridge({ ...JSON.parse(process.argv[2]), onStderr: () => {} });
process.on("message", () => {
  for (let round = 0; round < 3; round++) globalThis.gc?.();
  const { heapUsed, rss, external } = process.memoryUsage();
  // What V8 has compiled grows for as long as it finds something to make faster.
  const code = getHeapCodeStatistics().code_and_metadata_size;
  const { sessions, children, restarts, state } = made.upstream;
  process.send({ heapUsed, code, rss, external, handles: process.getActiveResourcesInfo(), sessions, children, restarts, state });
});
process.on("disconnect", async () => {
  await made.close();
  process.exit(0);
});
process.send({ address: made.listeners[0].address });
