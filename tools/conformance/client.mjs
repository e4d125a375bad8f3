import { conformanceClient } from "../../dist-conformance/client.js";

// The client under test: the suite starts it once a scenario, says in the environment which, and appends the server's URL.
const {
  MCP_CONFORMANCE_SCENARIO: name = "",
  MCP_CONFORMANCE_PROTOCOL_VERSION: version = "",
  MCP_CONFORMANCE_CONTEXT: context,
} = process.env;
try {
  await conformanceClient({ name, version, url: process.argv.at(-1) ?? "", context: JSON.parse(context ?? "{}") });
} catch (error) {
  process.stderr.write(`${error.stack ?? error}\n`);
  process.exitCode = 1;
}
