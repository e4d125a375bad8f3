import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

// Writes docs/mapping/mcp-v1.md and buf-mcp-v1.md from the tables that also drives the codec: `node tools/proto/page.mjs`, after a build.

/** How each kind is written on the page: the type of its field, and what does not fit it. */
const kinds = {
  string: ["`string`", "no string; half a surrogate pair in it"],
  bool: ["`bool`", "no boolean"],
  int32: ["`int32`", "no integer of 32 bits; -0"],
  int64: ["`int64`", "no safe integer; -0"],
  double: ["`double`", "no number"],
  "enum Role": ["`Role`", 'neither `"user"` nor `"assistant"`, nor a number that `Role` does not name'],
  "enums Role": ["`Role`, or `repeated Role`", "no array of roles; an empty array"],
  "enum ResourceChangeType": ["`ResourceChangeType`", 'none of `"created"`, `"modified"`, `"deleted"`, nor a number that it does not name'],
  octets: ["`bytes`", "no canonical base64 (standard alphabet, padded, spare bits zero)"],
  time: ["`Timestamp`", "not as `Date` prints it, with three decimals and `Z`"],
  id: ["`string`, with a flag for numbers", "neither a string nor a number"],
  token: ["`ProgressToken`", "neither a string nor a safe integer"],
  constant: ["`string`", "never: it is the same for all"],
  struct: ["`Struct`", "no object; half a surrogate pair anywhere in it"],
  value: ["`Value`", "half a surrogate pair anywhere in it"],
  any: ["`Any` of `Value`", "half a surrogate pair anywhere in it"],
  anys: ["`ExperimentalCapabilities`, each an `Any` of `Value`", "no object; half a surrogate pair anywhere in it"],
  metadata: ["`Metadata`", "no object of strings; an empty object"],
  strings: ["`repeated string`", "no array of strings; an empty array that is not the default"],
  map: ["`map<string, string>`", "no object of strings; an empty object"],
  message: ["the message", "no object"],
  messages: ["`repeated`, the message", "no array of objects; an empty array that is not the default"],
};

/** Kinds of buf.mcp.v1 alone. */
const bufKinds = { bytes: ["`bytes`"], typed: ["`Any`"] };

/** The whole page. `text` is what stands before and after the tables, with a line `<!-- name -->` where each goes. */
export function page(text, { messages, payloads, base }) {
  const tables = { kinds: kindTable(), messages: messages.map(messageTable).join("\n"), ...payloadTables(payloads), ...baseTables(base) };
  return text.replace(/<!-- (\w+) -->\n/g, (_, name) => tables[name] ?? `(no table ${name})\n`);
}

function baseTables({ dispensableMeta, vitalMembers }) {
  const named = (names) => [...names].map((name) => `\`${name}\``).join(", ");
  return {
    hints: `| ${named(dispensableMeta)} in \`_meta\` | not in the message: trace context travels in metadata, progress comes where the RPC has it |\n`,
    vital: `${named(vitalMembers)}, and a \`resultType\` other than \`complete\`.\n`,
  };
}

function kindTable() {
  const rows = Object.values(kinds).map(([type, misfit]) => `| ${type} | ${misfit} |`);
  return ["| field | goes to `other_members` if it is |", "|---|---|", ...new Set(rows), ""].join("\n");
}

function messageTable({ name, stands, fields, variants = [], rest }) {
  const rows = [...variants.map(variantRow), ...fields.map(fieldRow)];
  if (rest !== undefined) rows.push(`| every other member that is a string | \`extra\` | ${rest} | \`map<string, string>\` |  |  | base |`);
  rows.push("| every other member, and what does not fit | `other_members` | 1000 | `bytes`, JSON |  |  | added |");
  const head = ["| JSON | field | number | type | twin | if absent |  |", "|---|---|---|---|---|---|---|"];
  return [`### ${name}`, `${capital(stands)}.`, "", ...head, ...rows, ""].join("\n");
}

function fieldRow(field) {
  const { member, name, number, kind, of, twin, initial, lift, part, when, several, flag, added } = field;
  const path = `${lift ? "_meta" : ""}${lift ? `["${member}"]` : member}${part === undefined ? "" : `.${part}`}`;
  const json = when === undefined ? `\`${path}\`` : `\`${path}\` of type \`${when}\``;
  const type =
    of !== undefined && (kind === "message" || kind === "messages")
      ? `${kind === "messages" ? "repeated " : ""}[${of}](#${of.toLowerCase()})`
      : (kinds[`${kind} ${of}`] ?? kinds[kind] ?? bufKinds[kind])[0];
  const places = several === undefined ? `${number}` : `${number}; several ${several}`;
  const numbers = flag === undefined ? places : `${places}; flag ${flag}`;
  const absent = initial === undefined ? (field.open ? "`{}`" : "") : `\`${JSON.stringify(initial)}\``;
  return `| ${json} | \`${name}\` | ${numbers} | ${type} | ${twin ?? ""} | ${absent} | ${added ? "added" : "base"} |`;
}

function variantRow({ name, number, of, when, added }) {
  return `| members of type \`${when}\` | \`${name}\` | ${number} | [${of}](#${of.toLowerCase()}) |  |  | ${added ? "added" : "base"} |`;
}

function payloadTables({ requests, notifications, results, items, calls }) {
  const rows = (map, form) => [...map].map(([name, { number, table }]) => form(name, number, table.name));
  const head = (left) => [`| ${left} | payload | message |`, "|---|---|---|"];
  return {
    toServer: [
      ...head("a client's message"),
      ...rows(requests, (method, number, message) => `| request \`${method}\` | ${number} | [${message}](#${message.toLowerCase()}) |`),
      '| request `resources/read` with an object `_meta["dev.anywire/chunked"]` | 21 | [ReadResourceChunkedRequest](#readresourcechunkedrequest) |',
      ...rows(
        notifications,
        (method, number, message) => `| notification \`${method}\` | ${number} | [${message}](#${message.toLowerCase()}) |`,
      ),
      "| any other request, any other notification, a result, an error; a request without params where a member is required | 80 | GenericMessage |",
      "",
    ].join("\n"),
    toClient: [
      ...head("a server's message"),
      ...rows(results, (method, number, message) => `| result of \`${method}\` | ${number} | [${message}](#${message.toLowerCase()}) |`),
      ...[...items].map(([method, number]) => `| item or page of \`${method}\` | ${number} | List…Response |`),
      "| content or chunk of `resources/read` | 50 | ReadResourceChunkedResponse |",
      ...rows(calls, (method, number, message) =>
        `| notification \`${method}\`, its \`requestId\` in `.concat(
          `\`in_reply_to\` | ${number} | [${message}](#${message.toLowerCase()}) |`,
        ),
      ),
      "| notification `notifications/progress`; `in_reply_to` if the token is the call's id | 52 | [ProgressNotification](#progressnotification) |",
      "| result of a list, of a chunked read, of a watch | 55 | StreamEnd, `rest` a [ResultRest](#resultrest) |",
      "| error of any other request | 60 | [ErrorResponse](#errorresponse) |",
      "| error of a list, of a chunked read, of a watch | 61 | [StreamError](#streamerror) |",
      "| any other result, any other notification, a request | 80 | GenericMessage |",
      "",
    ].join("\n"),
  };
}

/** The page of buf.mcp.v1, whose payloads go both ways. */
export function bufPage(text, { messages, requests, results, notifications, bufDispensableMeta, bufVitalMembers }) {
  const row = (what, { number, table, added }) =>
    `| ${what} | ${number} | [${table.name}](#${table.name.toLowerCase()}) | ${added ? "added" : "base"} |`;
  const payloads = [
    "| message | payload | of the type |  |",
    "|---|---|---|---|",
    ...[...requests].map(([method, payload]) => row(`request \`${method}\``, payload)),
    ...[...results].map(([method, payload]) => row(`result of \`${method}\``, payload)),
    ...[...notifications].map(([method, payload]) => row(`notification \`${method}\``, payload)),
    "| error | 12 | [ErrorResponse](#errorresponse) | base |",
    "| any other message | 100 | JsonRpc | added |",
  ].join("\n");
  return text
    .replace("<!-- payloads -->", () => payloads)
    .replace("<!-- hint -->", () => `\`${bufDispensableMeta.source}\``)
    .replace(
      "<!-- vitals -->",
      () => `${[...bufVitalMembers].map((name) => `\`${name}\``).join(", ")}, and a \`resultType\` other than \`complete\`.`,
    )
    .replace("<!-- messages -->\n", () => messages.map(messageTable).join("\n"));
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
export const source = here("./page.md");
export const target = here("../../docs/mapping/mcp-v1.md");

export const bufSource = here("./buf-page.md");
export const bufTarget = here("../../docs/mapping/buf-mcp-v1.md");

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { mcpv1Messages: messages } = await import("../../dist/codec/mcpv1/dialect.js");
  const session = await import("../../dist/codec/mcpv1/session-tables.js");
  const base = await import("../../dist/codec/mcpv1/base.js");
  writeFileSync(target, page(readFileSync(source, "utf8"), { messages, payloads: payloadsOf(session), base }));
  const { messages: bufMessages } = await import("../../dist/codec/bufmcpv1/dialect.js");
  const payloads = await import("../../dist/codec/bufmcpv1/payloads.js");
  const bufBase = await import("../../dist/codec/bufmcpv1/base.js");
  writeFileSync(bufTarget, bufPage(readFileSync(bufSource, "utf8"), { ...payloads, ...bufBase, messages: bufMessages }));
}

/** The maps of a session's payloads, by what they are for. */
export function payloadsOf(session) {
  return {
    requests: session.requestPayloads,
    notifications: session.notificationPayloads,
    results: session.resultPayloads,
    items: session.itemPayloads,
    calls: session.callPayloads,
  };
}
