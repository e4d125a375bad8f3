import type { JsonObject, McpClient } from "../../api/index.js";
import { isObject } from "../../core/index.js";
import type { Input } from "../args/input.js";
import { clean, cleanLine } from "../out/clean.js";
import { columns, wrapText } from "../out/wrap.js";
import { type WithClient, withClient } from "../session/session.js";

export function runDiscover(input: Input, using: WithClient = withClient): Promise<number> {
  return using(input, async ({ client, signal, out, width }) => {
    if (input.options.has("json")) await out.write(`${JSON.stringify(await client.discover({ signal }))}\n`);
    else await out.write(`${columns(rows(client), width)}\n${instructions(client, width)}`);
    return 0;
  });
}

function rows({ server }: McpClient): [string, string][] {
  const { info, era, version, supportedVersions, capabilities } = server;
  return [
    ["server", cleanLine([info?.title, info?.name, info?.version].filter((part) => part !== undefined).join(" ") || "not said")],
    ["protocol", `${version}, ${era} era; the server speaks ${supportedVersions.map((each) => cleanLine(String(each))).join(", ")}`],
    ["can", Object.entries(capabilities).map(capability).join(", ") || "nothing it says"],
  ];
}

/** `resources (subscribe, listChanged)` */
function capability([name, value]: [string, unknown]): string {
  const inner: JsonObject = isObject(value) ? value : {};
  const parts = Object.keys(inner).filter((key) => inner[key] !== false);
  return cleanLine(parts.length === 0 ? name : `${name} (${parts.join(", ")})`);
}

function instructions({ server }: McpClient, width: number): string {
  return server.instructions === undefined ? "" : `\n${wrapText(clean(String(server.instructions).trim()), width)}\n`;
}
