/** The official SDK on stdio, in the era that its client chooses. Argument: `plain`, `list` or `list-zod`, the tools it lists. */
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { What } from "../pairs.js";
import { sdkServer } from "../sdk-server.js";

const [what = "plain"] = process.argv.slice(2) as [What?];
serveStdio(() => sdkServer(what));
