/** Tells the parent what this process holds, after a collection, whenever it asks. */
export function answerMemory(more = () => ({})) {
  process.on("message", (asked) => {
    if (asked !== "memory") return;
    for (let left = 3; left > 0; left--) globalThis.gc();
    const { heapUsed, external } = process.memoryUsage();
    process.send({ memory: heapUsed + external, ...more() });
  });
  process.on("disconnect", () => process.exit());
}
