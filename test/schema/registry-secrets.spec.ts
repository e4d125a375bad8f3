import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { keyPin } from "../../src/schema/index.js";
import { authority } from "../fixtures/certificates.js";
import { commitA, oneCommit, rawRegistry, refuse, searchTool, setOf, storeAt } from "./registries.js";
import { scratch } from "./support.js";

const reference = "buf.build/acme/tools/web_search:v1";
const set = setOf(searchTool);
const unresolved = (reason: string): unknown => expect.objectContaining({ rpcCode: -33000, data: { reason } });

describe("the token of a registry", () => {
  const netrc = (text: string): string => {
    const path = join(scratch(), ".netrc");
    writeFileSync(path, text);
    return path;
  };

  it.each<[string, Record<string, string>, string | undefined]>([
    ["one for all", { BUF_TOKEN: "t0p" }, "Bearer t0p"],
    ["one for each", { BUF_TOKEN: "other@bsr.example,t0p@buf.build" }, "Bearer t0p"],
    ["one for another", { BUF_TOKEN: "other@bsr.example" }, undefined],
    ["none", {}, undefined],
  ])("comes from BUF_TOKEN: %s", async (_, env, expected) => {
    const raw = await rawRegistry(oneCommit(commitA, set));
    await storeAt(raw.url, { env: { HOME: "/nowhere", ...env } }).resolve(reference);
    expect(raw.asked[0]?.headers.authorization).toBe(expected);
  });

  it("comes from .netrc, if BUF_TOKEN has none for the registry", async () => {
    const raw = await rawRegistry(oneCommit(commitA, set));
    const NETRC = netrc("machine buf.build login me password fr0mfile\nmachine bsr.example password other\n");
    await storeAt(raw.url, { env: { NETRC } }).resolve(reference);
    await storeAt(raw.url, { env: { NETRC, BUF_TOKEN: "t@bsr.example" } }).resolve(reference);
    await storeAt(raw.url, { env: { NETRC, BUF_TOKEN: "t0p" } }).resolve(reference);
    expect(raw.asked.map(({ headers }) => headers.authorization)).toEqual(["Bearer fr0mfile", "Bearer fr0mfile", "Bearer t0p"]);
  });

  it("is never sent, nor shown, if it cannot be one", async () => {
    const raw = await rawRegistry(oneCommit(commitA, set));
    for (const token of ["s3cret\nx-evil: 1", "s3cret value", "s3cret\u00e9"]) {
      const error = await storeAt("", { registries: { "buf.build": { url: raw.url, token } } })
        .resolve(reference)
        .catch((each: unknown) => each);
      expect(error).toEqual(unresolved("unauthenticated"));
      expect(inspect(error, { depth: 20, showHidden: true })).not.toContain("s3cret");
    }
    expect(raw.asked).toEqual([]);
  });

  it("is in no error, also if the registry says it again", async () => {
    const secret = "s3cr3t-t0ken-value";
    const raw = await rawRegistry(({ headers }, response) =>
      refuse(response, 400, "invalid_argument", `bad ${headers.authorization} \u001b[2J and\n${secret}, too ${"x".repeat(5_000)}`),
    );
    const warnings: string[] = [];
    const error = await storeAt(raw.url, { env: { BUF_TOKEN: secret }, onWarning: (text) => warnings.push(text) })
      .resolve(reference)
      .catch((each: unknown) => each);
    expect(raw.asked[0]?.headers.authorization).toBe(`Bearer ${secret}`);
    const shown = inspect(error, { depth: 20, showHidden: true });
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain("\u001b");
    expect((error as Error).message.length).toBeLessThan(500);
    expect([error, warnings]).toEqual([unresolved("bad-answer"), []]);
  });
});

describe("the certificate of a registry", () => {
  const signer = authority();
  const tls = signer.issue("127.0.0.1");
  const pin = `sha256/${keyPin(tls.cert)}`;
  const at = (url: string, more: object): Parameters<typeof storeAt>[1] => ({
    registries: { "buf.build": { url, token: "t0p", ...more } },
  });

  it("is trusted by its signer, and by its key where keys are pinned", async () => {
    const raw = await rawRegistry(oneCommit(commitA, set), tls);
    for (const more of [{ ca: signer.cert }, { ca: signer.cert, pins: ["sha256/AAAA", pin] }])
      expect((await storeAt("", at(raw.url, more)).resolve(reference)).commit).toBe(commitA);
  });

  it("is refused otherwise, before a token is sent", async () => {
    const raw = await rawRegistry(oneCommit(commitA, set), tls);
    const other = signer.issue("127.0.0.1");
    const elsewhere = await rawRegistry(oneCommit(commitA, set), signer.issue("buf.example"));
    for (const [url, more, reason] of [
      [raw.url, {}, "certificate"],
      [raw.url, { ca: authority().cert, pins: [pin] }, "certificate"],
      [raw.url, { ca: signer.cert, pins: [`sha256/${keyPin(other.cert)}`] }, "pin"],
      [raw.url, { ca: signer.cert, pins: [] }, "pin"],
      [elsewhere.url, { ca: signer.cert }, "certificate"],
    ] as const)
      await expect(storeAt("", at(url, more)).resolve(reference)).rejects.toEqual(unresolved(reason));
    expect([...raw.asked, ...elsewhere.asked]).toEqual([]);
  });
});
