/** An Anywire client in a process of its own. Argument: the address. Calls echo as often as it is told to, and says how long that took. */
import { performance } from "node:perf_hooks";
import { connect } from "anywire";

const client = await connect(process.argv[2] as string, { era: "modern" });
process.on("message", async (times: number) => {
  const began = performance.now();
  for (let at = 0; at < times; at++) await client.callTool("echo", { text: `hello ${at}` });
  process.send?.(performance.now() - began);
});
process.once("disconnect", () => void client.close());
process.send?.("ready");
