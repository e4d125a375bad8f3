import { fileURLToPath } from "node:url";
import { allowed } from "./allowed.js";
import { known } from "./known.js";
import { type Rule, sections } from "./rules.js";

/** The page that lists what a relay changes. */
export const page: string = fileURLToPath(new URL("../../docs/relay.md", import.meta.url));

const titles: Readonly<Record<(typeof sections)[number], string>> = {
  "answers itself": "Answered by the relay",
  adds: "Added",
  renumbers: "Renumbered",
  coalesces: "Coalesced",
  moves: "Moved to another place",
  "converts between eras": "Converted between eras",
  "must not pass": "Not passed on, because the revision forbids it",
  "cannot carry": "Not carried",
};

const directions = [
  ["client", "From client to server"],
  ["server", "From server to client"],
] as const;

const intro = `# What a relay changes

A relay (\`bridge({ listen, to })\`, see [the guide](guide/bridge.md), or \`serve(await wire.dial(upstream, …), address)\`) passes messages on unchanged. It keeps every member of every message, also unknown ones, nulls, empty arrays and objects, the order of members, and error codes, messages and data.
This page lists the exceptions. It is generated from the tables in \`test/relay\`, which the tests compare with what raw peers see on both sides. Everything that is not listed arrives as it was sent.

"Legacy" and "modern" name the era of client and server. "Legacy to modern" means a legacy client and a modern server. A line without them is about all combinations.

- Between eras, questions change their form. A legacy server's request becomes an \`input_required\` result for a modern client, and the client's retry is the answer. The same works in the other direction (\`test/contract/relay.spec.ts\`).
- A modern server gives an elicitation by URL no id, and legacy clients need one. The relay adds \`elicitationId\`, and sends \`notifications/elicitation/complete\` when the call is over. The error -32042, with which a legacy server requires a URL, becomes an \`input_required\` result for a modern client that can visit one (\`test/bridge/eras.spec.ts\`).
- A \`requestState\` of the server passes unchanged to a client without credentials. If the client has a principal, or the server is an Anywire end, the relay seals it. The client gets another text, which works only with the same principal and request. The server gets its own text back (\`test/tables/states.spec.ts\`).
- After a lost connection to the server, a relay tells its clients that lists and subscribed resources may have changed ([when the connection is lost](guide/client.md#when-the-connection-is-lost), \`test/faults/restart.spec.ts\`).
- Clients of a modern server that is not an Anywire end share few \`subscriptions/listen\` streams. The server sees one subscriber that wants everything, and each client gets what it asked for (\`test/bridge/many-sessions.spec.ts\`).
- A bridge gives some clients their own session with the server. That server sees the client's own name and capabilities, not the relay's (\`test/bridge/modes.spec.ts\`).
- A request that is sent without an id does not reach the server. It could not be answered, and filters and rates look only at calls (\`test/bridge/without-id.spec.ts\`).
- A message that is not JSON-RPC does not pass. If it is a call or answers one, the caller gets the error -32600, which says what is wrong about it (\`test/bridge/malformed.spec.ts\`).

Run \`npm run relay\` to compare every wire and chains of three relays.
`;

/** What the page has to say. */
export function pageText(): string {
  const parts = directions.map(
    ([from, title]) =>
      `## ${title}\n\n${sections
        .map((section) =>
          sectionText(
            section,
            allowed.filter((rule) => rule.from === from && rule.section === section),
          ),
        )
        .join("")}`,
  );
  const losses = known.map((rule) => `- ${rule.from === "client" ? "To the server" : "To the client"}${erasText(rule)}: ${rule.text}\n`);
  const todo =
    losses.length === 0
      ? ""
      : `## Not yet right\n\nThese are losses that will be mended. A test makes sure that each still happens, so that this list is never longer than the truth.\n\n${[...new Set(losses)].join("")}`;
  return `${intro}\n${parts.join("")}${todo}`;
}

function sectionText(section: (typeof sections)[number], rules: readonly Rule[]): string {
  if (rules.length === 0) return "";
  return `### ${titles[section]}\n\n${[...new Set(rules.map((rule) => `- ${rule.text}${erasText(rule)}\n`))].join("")}\n`;
}

function erasText({ eras }: Rule): string {
  return eras === undefined ? "" : ` (${eras.join(", ")})`;
}
