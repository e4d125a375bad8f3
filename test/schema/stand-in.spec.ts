import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { equals, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { serveRegistry } from "../../src/schema/index.js";
import { authority } from "../fixtures/certificates.js";
import { paths, rawRegistry, registryFolder, searchTool, setOf, standIn, storeAt } from "./registries.js";
import { buf, fixture, root, scratch } from "./support.js";

/** The real buf, in a world of its own: it knows one registry. */
function bufAt(
  url: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; text: string }> {
  const home = scratch();
  writeFileSync(join(home, "config.yaml"), `version: v1\ntls:\n  use: "${url.startsWith("https") ? "system" : "false"}"\n`);
  const child = spawn(process.execPath, [join(root, "node_modules/@bufbuild/buf/bin/buf"), ...args], {
    env: { PATH: process.env["PATH"], HOME: home, BUF_CONFIG_DIR: home, BUF_CACHE_DIR: home, ...env },
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, text })));
}

const service = `syntax = "proto3";
package acme.tools.v1;
import "google/protobuf/empty.proto";
import "acme/tools/v1/web_search.proto";
// Searches.
service SearchService {
  // Searches once.
  rpc Search(WebSearchRequest) returns (stream WebSearchResponse) {
    option deprecated = true;
  }
  rpc Forget(stream google.protobuf.Empty) returns (google.protobuf.Empty);
}
`;

describe("the stand-in registry and the real buf", () => {
  it("agree on commits, digests and files", async () => {
    const module = scratch();
    const folder = registryFolder({ "acme/tools/v1.binpb": setOf(searchTool, ...fixture("unions"), ...fixture("odd-names")) });
    const url = await standIn(folder);
    const module_ = `${url.slice("http://".length)}/acme/tools`;
    const resolved = await bufAt(url, ["registry", "module", "commit", "resolve", `${module_}:v1`]);
    const { commit } = await storeAt(url).resolve("buf.build/acme/tools/web_search:v1");
    expect(resolved).toEqual({ code: 0, text: `${module_}:${commit}\n` });
    // buf fetches the text, compares its digest with that of the commit, and compiles it.
    const image = join(module, "image.binpb");
    expect(await bufAt(url, ["build", `${module_}:v1`, "-o", image])).toEqual({ code: 0, text: "" });
    const built = new Map(fromBinary(FileDescriptorSetSchema, readFileSync(image)).file.map((file) => [file.name, file]));
    const served = fromBinary(FileDescriptorSetSchema, readFileSync(join(folder, "acme/tools/v1.binpb"))).file;
    for (const file of served) {
      const other = built.get(file.name);
      if (other === undefined) throw new Error(`${file.name} did not arrive`);
      const plain = { sourceCodeInfo: undefined, $unknown: undefined };
      expect([file.name, equals(FileDescriptorProtoSchema, { ...file, ...plain }, { ...other, ...plain })]).toEqual([file.name, true]);
    }
    expect(await bufAt(url, ["build", `${module_}:v2`])).toEqual({ code: 1, text: expect.stringContaining("there is no acme/tools:v2") });
  });

  it("agree on what buf itself has built, services included, over TLS and with a token", async () => {
    const module = scratch();
    mkdirSync(join(module, "acme/tools/v1"), { recursive: true });
    mkdirSync(join(module, "out/acme/tools"), { recursive: true });
    const folder = registryFolder({ "acme/plain/main.binpb": setOf(searchTool) });
    const url = await standIn(folder);
    expect(await bufAt(url, ["export", `${url.slice(7)}/acme/plain`, "-o", module])).toEqual({ code: 0, text: "" });
    writeFileSync(join(module, "acme/tools/v1/service.proto"), service);
    const set = join(module, "out/acme/tools/main.binpb");
    expect(buf("build", module, "-o", set)).toEqual({ status: 0, text: "" });
    const signer = authority();
    const ca = join(module, "ca.pem");
    writeFileSync(ca, signer.cert);
    await using listener = await serveRegistry(join(module, "out"), "https://localhost:0", {
      tls: signer.issue("localhost"),
      auth: { verify: (token) => (token === "t0p" ? { id: "buf" } : undefined) },
    });
    const host = listener.address.slice("https://".length);
    const env = { SSL_CERT_FILE: ca, BUF_TOKEN: `t0p@${host}` };
    const image = join(module, "image.binpb");
    expect(await bufAt(listener.address, ["build", `${host}/acme/tools`, "-o", image], env)).toEqual({ code: 0, text: "" });
    expect(buf("breaking", image, "--against", set, "--config", '{"version":"v2","breaking":{"use":["FILE"]}}')).toEqual({
      status: 0,
      text: "",
    });
    expect(buf("breaking", set, "--against", image, "--config", '{"version":"v2","breaking":{"use":["FILE"]}}')).toEqual({
      status: 0,
      text: "",
    });
    expect((await bufAt(listener.address, ["build", `${host}/acme/tools`], { ...env, BUF_TOKEN: `no@${host}` })).code).toBe(1);
    const registries = { "buf.build": { url: listener.address, ca: signer.cert, token: "t0p" } };
    for (const api of ["module", "alpha", "reflect"] as const)
      expect(
        (await storeAt("", { registries: { "buf.build": { ...registries["buf.build"], api } } }).resolve("buf.build/acme/tools/web_search"))
          .input.name,
      ).toBe("WebSearchRequest");
    await expect(
      storeAt("", { registries: { "buf.build": { ...registries["buf.build"], token: "no" } } }).resolve("buf.build/acme/tools/x"),
    ).rejects.toMatchObject({
      data: { reason: "unauthenticated" },
    });
  });

  it("ask the same: what buf says to a registry is what the stand-in knows", async () => {
    const raw = await rawRegistry((_, response) => void response.writeHead(404).end());
    await bufAt(raw.url, ["build", `${raw.url.slice("http://".length)}/acme/tools:v1`]);
    expect(raw.asked[0]).toMatchObject({ path: paths.commits, headers: { "content-type": "application/proto" } });
  });
});

it("refuses pages of strangers, and to listen to a network without protection", async () => {
  const folder = registryFolder({ "acme/tools/v1.binpb": setOf(searchTool) });
  const url = await standIn(folder);
  const asked = (
    headers: Record<string, string>,
    body = '{"resourceRefs":[{"name":{"owner":"acme","module":"tools"}}]}',
  ): Promise<Response> =>
    fetch(`${url}${paths.commits}`, { method: "POST", headers: { "content-type": "application/json", ...headers }, body });
  expect(((await (await asked({})).json()) as { commits: unknown[] }).commits).toHaveLength(1);
  const many = { resourceRefs: Array.from({ length: 251 }, () => ({ name: { owner: "acme", module: "tools" } })) };
  expect((await asked({}, JSON.stringify(many))).status).toBe(400);
  expect((await asked({ origin: "https://evil.example" })).status).toBe(403);
  await expect(serveRegistry(folder, "http://0.0.0.0:0")).rejects.toThrow(/without TLS/);
  await expect(serveRegistry(folder, "grpc://127.0.0.1:0")).rejects.toThrow(/not an address for a registry/);
});
