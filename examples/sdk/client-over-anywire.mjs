// A Client of the official SDK on any wire: it starts serve-mcp-server.mjs, or connects to the address that you pass.
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { clientTransport } from "anywire/sdk";

const script = fileURLToPath(new URL("serve-mcp-server.mjs", import.meta.url));
const address = process.argv[2] ?? { command: process.execPath, args: [script] };

const client = new Client({ name: "caller", version: "1.0.0" });
await client.connect(clientTransport(address));

const { content } = await client.callTool({ name: "greet", arguments: { name: "Ada" } });
console.log(content[0].text);
await client.close();
