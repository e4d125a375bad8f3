// A chain of relays, each of them two library calls: standard input and output, then the wires that the arguments name, then a child.
import { serve, wireFor } from "../../dist/api/index.js";

const [hops, server, odd] = process.argv.slice(2);
const report = { onFault: ({ code, message }) => console.error(`fault ${code}: ${message}`) };
const dial = async (address, options) => (await wireFor(address)).dial(address, { era: "legacy", ...report, ...options });

const opened = [];
let back = await dial({ command: process.execPath, args: [server, odd] });
for (const { listen, ...options } of JSON.parse(hops)) {
  const listener = await serve(back, listen, report);
  opened.push(back, listener);
  back = await dial(listener.address, options);
}
opened.push(back);
await serve(back, "stdio:", report);
process.stdin.once("end", async () => {
  for (const each of opened.reverse()) await each.close();
  process.exit();
});
