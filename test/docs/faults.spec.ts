import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  type FaultCode,
  grpcStatuses,
  httpStatuses,
  jsonRpcCodes,
  refusalDetails,
  requestStatuses,
  revisions,
  unsendable,
} from "../../src/core/index.js";
import { statusNames } from "../../src/io/grpc/status.js";

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

const codes = Object.keys(jsonRpcCodes) as FaultCode[];
const tables: Readonly<Record<string, string>> = {
  "json-rpc": table(
    ["fault", ...revisions],
    codes.map((code) => [`\`${code}\``, ...revisions.map((each) => jsonRpcCodes[code][each])]),
  ),
  "given-up": table(
    ["a peer's code", ...revisions.slice(1)],
    [...unsendable["2026-07-28"]].map(([code, as]) => [
      code,
      ...revisions.slice(1).map((each) => `as \`${as}\`: ${jsonRpcCodes[as][each]}`),
    ]),
  ),
  grpc: table(
    ["fault", "gRPC"],
    codes.map((code) => [`\`${code}\``, `${statusNames[grpcStatuses[code]]} (${grpcStatuses[code]})`]),
  ),
  http: table(
    ["fault", ...revisions.map((each) => `${each}: refused, answered`)],
    codes.map((code) => [
      `\`${code}\``,
      ...revisions.map((each) => `${httpStatuses[code][each].refused}, ${httpStatuses[code][each].answered}`),
    ]),
  ),
  details: table(
    ["refused with", "status"],
    Object.entries(refusalDetails).map(([name, status]) => [`\`${name.replace("/", "`, `")}\``, status]),
  ),
  requests: table(["request", "status"], Object.entries(requestStatuses)),
};

it.each(Object.entries(tables))("docs/faults.md shows the table that runs: %s", (name, expected) => {
  const page = readFileSync(new URL("../../docs/faults.md", import.meta.url), "utf8");
  const found = new RegExp(`<!-- ${name} -->\\n\\n([^]*?)\\n\\n`).exec(page)?.[1];
  expect(found).toBe(expected);
});
