import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  answerHeaderBytes,
  defaultLimits,
  dialLimits,
  fixedLimits,
  optionLimits,
  principalShares,
  rateLimits,
  schemaLimits,
} from "../../src/core/limits.js";
import { bodyMsOf, defaultTimeouts, fixedTimeouts } from "../../src/core/timeouts.js";
import { registryRequestBytes, schemaCacheLimits, schemaTimeouts, typedToolLimits } from "../../src/schema/limits.js";
import { eventChars } from "../../src/wires/http/events.js";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/limits.md"), "utf8");
const limits = { ...defaultLimits, ...optionLimits, ...fixedLimits, ...schemaLimits };
const shares = Object.entries(principalShares).map(([name, share]) => [`${name}PerPrincipal`, `${share * 100}% of \`${name}\``] as const);
const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && !path.endsWith(".spec.ts"))
  .map((path) => [path, readFileSync(join(root, "src", path), "utf8")] as const);
const names = [...Object.keys(limits), ...shares.map(([name]) => name), ...rateLimits, ...dialLimits];

/** As the page writes it. */
function written(name: string, value: number): string {
  if (name.endsWith("Ms")) {
    if (value < 1000) return `${value} ms`;
    return value < 120_000 ? `${value / 1000} s` : `${value / 60_000} min`;
  }
  if (!name.endsWith("Bytes")) return value.toLocaleString("en");
  return value < 1024 ** 2 ? `${value / 1024} KiB` : `${value / 1024 ** 2} MiB`;
}

/** Name and default of each row of a section. */
function rows(section: string): Record<string, string> {
  const text = page.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? "";
  return Object.fromEntries([...text.matchAll(/^\| `(\w+)` \| ([^|]+) \| [^|]+ \|$/gm)].map(([, name, value]) => [name, value]));
}

function expected(table: Readonly<Record<string, number>>): Record<string, string> {
  return Object.fromEntries(Object.entries(table).map(([name, value]) => [name, written(name, value)]));
}

describe("docs/limits.md", () => {
  it("lists every limit with its default", () => {
    expect(rows("The option limits")).toEqual(expected({ ...defaultLimits }));
    expect(rows("Options of their own")).toEqual({ ...expected(optionLimits), ...Object.fromEntries(shares) });
    expect(rows("Fixed limits")).toEqual(expected({ ...fixedLimits, ...schemaLimits, ...schemaCacheLimits }));
    expect(page).toContain(`A request to \`serveRegistry\` may have ${written("registryRequestBytes", registryRequestBytes)}.`);
    const { http1, http2 } = answerHeaderBytes;
    expect(page).toContain(`${written("headerBytes", http1)} over HTTP/1.1 and ${written("headerBytes", http2)} over HTTP/2`);
    const { chars, totalChars, ownerShare } = eventChars;
    expect(page).toContain(
      `\`chars\` (${chars / 1024 ** 2} Mi of one stream), \`totalChars\` (${totalChars / 1024 ** 2} Mi of all streams)`,
    );
    expect(page).toContain(`\`ownerChars\` (${ownerShare * 100}% of \`totalChars\`, of one owner)`);
    const { tools, bytes } = typedToolLimits;
    expect(page).toContain(`\`tools\` (${written("tools", tools)}) and \`bytes\` (${written("typedBytes", bytes)})`);
    for (const name of rateLimits) expect(page).toContain(`\`${name}\``);
  });

  it("lists every time-out with its default", () => {
    expect(rows("Time-outs that are options")).toEqual(expected(defaultTimeouts));
    expect(rows("Fixed time-outs")).toEqual(expected(fixedTimeouts));
    for (const [name, ms] of Object.entries(schemaTimeouts)) expect(page).toContain(`\`${name}\` (${written(name, ms)})`);
  });
});

it("no default of a limit or time-out is written a second time", () => {
  const known = new Set([...Object.keys(limits), ...Object.keys(defaultTimeouts)]);
  const again = sources
    .filter(([path]) => !/^core.(limits|timeouts)\.ts$/.test(path))
    .flatMap(([path, text]) =>
      [...text.matchAll(/\b(\w+)(?:: \w+)? (?:=|\?\?) [1-9]/g)]
        .filter(([, name]) => known.has(name as string))
        .map(([found]) => `${path}: ${found}`),
    );
  expect(again).toEqual([]);
});

it("no timer and no server is given a bare number of milliseconds", () => {
  const bare = /\b\w+(?:Timeout|Interval): (?!-)[^\n]*?\b[1-9][\d_]{2,}\b|\bset(?:Timeout|Interval)\([^;]*?, [1-9][\d_]{2,}\)/g;
  const found = sources
    .filter(([path]) => !/^(demo|contract)\W/.test(path))
    .flatMap(([path, text]) => [...text.matchAll(bare)].map(([each]) => `${path}: ${each}`));
  expect(found).toEqual([]);
});

it("a body has as long by default as the default of headersMs gives it", () => {
  expect(fixedLimits.bodyMs).toBe(bodyMsOf(defaultTimeouts.headersMs));
});

it("a default that the comment of an option names is that of the table", () => {
  const defaults: Readonly<Record<string, number>> = { ...limits, ...defaultTimeouts };
  // Options of one name whose defaults differ, as the page says. Those of schemas have a page of their own.
  const others: Readonly<Record<string, string>> = { pingMs: "keepAliveMs", recheckMs: "keyFileMs", idleMs: "sdkIdleMs" };
  const named = sources.flatMap(([path, text]) =>
    [...text.matchAll(/([\d,]+) unless given(?:(?!\*\/).)*\*\/\s*readonly (\w+)\??: number/gs)].flatMap(([, value = "", name = ""]) =>
      defaults[name] === undefined || path.startsWith("schema") ? [] : [{ path, name, value: Number(value.replaceAll(",", "")) }],
    ),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(({ name, value }) => value !== defaults[name] && value !== defaults[others[name] ?? ""])).toEqual([]);
});

it("a default that the help of the bridge and its guide name is that of the table", () => {
  const help = sources.find(([path]) => path === join("cli", "table", "bridge.ts"))?.[1] ?? "";
  const guide = readFileSync(join(root, "docs/guide/cli.md"), "utf8");
  const { handshakeMs, clientIdleMs, drainMs, patienceMs } = defaultTimeouts;
  const times = { "connect-timeout": handshakeMs, "idle-timeout": clientIdleMs, drain: drainMs, "sign-in-timeout": patienceMs };
  const inHelp = (name: string): string | undefined =>
    new RegExp(`name: "${name}",[^}]*?about: "[^"]*\\(default: ([^)]*)\\)"`).exec(help)?.[1];
  const inGuide = (name: string): string | undefined => new RegExp(`^\\| \`--${name} .*\\(default: ([^)]*)\\)`, "m").exec(guide)?.[1];
  for (const [name, ms] of Object.entries(times)) {
    const [count, unit, word] = ms % 60_000 === 0 && ms > 60_000 ? [ms / 60_000, "m", "minutes"] : [ms / 1000, "s", "seconds"];
    expect([name, inHelp(name), inGuide(name)]).toEqual([name, `${count}${unit}`, `${count} ${word}`]);
  }
  const mib = defaultLimits.messageBytes / 1024 ** 2;
  expect([inHelp("max-body"), inGuide("max-body")]).toEqual([`${mib}mib`, `${mib} MiB`]);
});

describe("data.limit", () => {
  it("is a name of the table wherever it is written", () => {
    const used = sources.flatMap(([path, text]) => [...text.matchAll(/\blimit: "([^"]*)"/g)].map(([, name]) => [path, name] as const));
    expect(used.length).toBeGreaterThan(30);
    expect(used.filter(([, name]) => !names.includes(name as string))).toEqual([]);
  });

  it("has the type of those names where it is not written", () => {
    const computed = sources.filter(([, text]) => /data: \{ limit[,} ]/.test(text));
    expect(computed.length).toBeGreaterThan(2);
    expect(computed.filter(([, text]) => !/type LimitName|keyof typeof (limits|whose)/.test(text)).map(([path]) => path)).toEqual([]);
  });

  it("says every fixed limit somewhere", () => {
    const all = sources.map(([, text]) => text).join("\n");
    expect(Object.keys(fixedLimits).filter((name) => !all.includes(`limit: "${name}"`))).toEqual([]);
  });
});
