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

A relay (\`bridge({ listen, to })\`, see [the guide](guide/bridge.md), or \`serve(await wire.dial(upstream, …), address)\`) passes on what it gets: every member of every message, also those that nobody knows, null, empty arrays and objects,
the order of members, error codes, messages and data. This page lists the exceptions. It is made from the tables that the tests hold to what raw peers see on both sides (\`test/relay\`); what is not listed arrives as it was sent.

"Legacy" and "modern" say which era client and server speak, "legacy to modern" that a legacy client speaks to a modern server; without them a line is about all.
Between eras questions change their form, too: a legacy server's request is an \`input_required\` result to a modern client, whose retry is the answer, and the other way round (\`test/contract/relay.spec.ts\`).
A \`requestState\` of the server passes as it is to a client without credentials. To one with a principal, and where the server is itself an Anywire end, the relay seals it: the client gets another text, of use only with the same principal and request, and the server gets back its own (\`test/tables/states.spec.ts\`).
After a lost connection to the server a relay also tells its clients that lists and subscribed resources may have changed ([when the connection is lost](guide/client.md#when-the-connection-is-lost), \`test/faults/restart.spec.ts\`).
Clients of a modern server that is not an Anywire end share few \`subscriptions/listen\` streams: the server sees what all of them want, in the name of one, and each client hears what it asked for (\`test/bridge/many-sessions.spec.ts\`).
A bridge gives some clients a session of their own with the server. That server is told the client's own name and capabilities, and not the relay's (\`test/bridge/modes.spec.ts\`).
A method of the protocol that is a request, sent without an id, does not reach the server: nobody could be answered, and filters and rates look at calls (\`test/bridge/without-id.spec.ts\`).

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
