import type { Rules } from "./shape.js";

const days =
  "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))" +
  "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)";
const clock = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?(?:[zZ]|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])";

type StringRules = Extract<NonNullable<Rules["type"]>, { case: "string" }>["value"];

/**
 * The rule for a format. A format that is not here is an annotation, as it is for ajv. Timestamp would lose the offset, so dates stay text.
 */
export const formatRules: Readonly<Record<string, StringRules>> = {
  email: { wellKnown: { case: "email", value: true } },
  uuid: { wellKnown: { case: "uuid", value: true } },
  uri: { wellKnown: { case: "uri", value: true } },
  "uri-reference": { wellKnown: { case: "uriRef", value: true } },
  hostname: { wellKnown: { case: "hostname", value: true } },
  ipv4: { wellKnown: { case: "ipv4", value: true } },
  ipv6: { wellKnown: { case: "ipv6", value: true } },
  date: { pattern: `^${days}$` },
  time: { pattern: `^${clock}$` },
  "date-time": { pattern: `^${days}[tT\\s]${clock}$` },
};

/** The CEL test of a text for a format. */
export function formatTest(format: unknown, value: string, quoted: (text: string) => string): string | undefined {
  if (typeof format !== "string" || !Object.hasOwn(formatRules, format)) return undefined;
  const pattern = format === "uuid" ? uuid : formatRules[format]?.pattern;
  if (pattern !== undefined) return `${value}.matches(${quoted(pattern)})`;
  return `${value}.${tests[format]}`;
}

const uuid = "^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$";
/** Functions that protovalidate adds to CEL. */
const tests: Readonly<Record<string, string>> = {
  email: "isEmail()",
  uri: "isUri()",
  "uri-reference": "isUriRef()",
  hostname: "isHostname()",
  ipv4: "isIp(4)",
  ipv6: "isIp(6)",
};
