import { serve } from "../../dist/api/index.js";
import { conformanceServer } from "../../dist-conformance/server.js";

// Serves the server under test: node server.mjs [port]; without a port it chooses one. Ends with a signal, or with the process that started it.
const listener = await serve(conformanceServer(), `http://127.0.0.1:${process.argv[2] ?? "0"}/mcp`, {
  pollMs: 500,
  onFault: (fault) => process.stderr.write(`${fault.code}: ${fault.message}\n`),
});
process.stdout.write(`${listener.address}\n`);
const close = () => void listener.close();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, close);
process.once("disconnect", close);
process.send?.(listener.address);
