import { generateKeyPairSync } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect, type Fault } from "../../src/api/index.js";
import { bearer, bearerFrom, oauth } from "../../src/oauth/index.js";
import { AuthorizationServer } from "./fixture/authorization-server.js";
import { type Protected, protectedServer } from "./fixture/protected-server.js";

let issuer: AuthorizationServer;
let server: Protected;
beforeEach(async () => {
  issuer = await AuthorizationServer.start();
  server = await protectedServer(issuer);
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

describe("a program", () => {
  it("signs in with its secret, again when the token has expired", async () => {
    issuer.clients.set("program", { secret: "s3cret", redirects: [] });
    const auth = oauth({ credentials: { id: "program", secret: "s3cret", issuer: issuer.issuer } });
    await using client = await connect(server.address, { auth });
    expect((await client.callTool("echo")).content).toHaveLength(1);
    issuer.access.clear();
    expect((await client.callTool("echo")).content).toHaveLength(1);
    expect(issuer.count("token client_credentials")).toBe(2);
    expect(issuer.count("authorize")).toBe(0);
  });

  it("signs in with a key", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("ec", {
      namedCurve: "P-256",
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
    });
    issuer.clients.set("program", { publicKey, redirects: [] });
    const auth = oauth({ credentials: { id: "program", privateKey, algorithm: "ES256", issuer: issuer.issuer } });
    await using client = await connect(server.address, { auth });
    expect((await client.callTool("echo")).content).toHaveLength(1);
  });

  it("signs in with what its platform says of it, each time anew", async () => {
    const auth = oauth({ credentials: { id: "workload", assertion: () => issuer.assertion, issuer: issuer.issuer } });
    await using client = await connect(server.address, { auth });
    issuer.access.clear();
    issuer.assertion = "another assertion";
    expect((await client.callTool("echo")).content).toHaveLength(1);
    expect(issuer.count("token urn:ietf:params:oauth:grant-type:jwt-bearer")).toBe(2);
  });

  it("does not show its secret to another issuer than its own", async () => {
    issuer.clients.set("program", { secret: "s3cret", redirects: [] });
    const auth = oauth({ credentials: { id: "program", secret: "s3cret", issuer: "https://own.example" } });
    await expect(connect(server.address, { auth })).rejects.toMatchObject({ code: "unauthenticated" });
    expect(issuer.count("token")).toBe(0);
  });
});

describe("a token from elsewhere", () => {
  const token = "the-token";
  beforeEach(() => void issuer.access.set(token, { client: "somebody", scope: "mcp", resource: server.address }));

  it("goes with every request, and a refusal of it is final", async () => {
    await using client = await connect(server.address, { auth: bearer(token) });
    expect((await client.callTool("echo")).content).toHaveLength(1);
    issuer.access.clear();
    await expect(client.callTool("echo")).rejects.toMatchObject({ code: "unauthenticated" });
    expect(issuer.seen).toEqual([]);
  });

  it("comes from the environment", async () => {
    expect(bearerFrom({})).toBeUndefined();
    expect(bearerFrom({ ANYWIRE_TOKEN: "" })).toBeUndefined();
    await using client = await connect(server.address, { auth: bearerFrom({ ANYWIRE_TOKEN: token }) });
    expect((await client.callTool("echo")).content).toHaveLength(1);
  });

  it("with a line break is refused, and not shown", () => {
    expect(() => bearer("abc\r\nx-evil: 1")).toThrow(/no token has/);
    try {
      bearer("secret part");
    } catch (error) {
      expect((error as Fault).message).not.toContain("secret part");
    }
  });
});
