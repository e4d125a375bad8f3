import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer as createHttp } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { connect, type ServeOptions } from "../../src/api/index.js";
import { modern, modernHeaders, open } from "../http/requests.js";

const secret = "a test's own secret";
const resource = "http://127.0.0.1/mcp";
const issuer = "https://issuer.example";

interface Claims {
  readonly [name: string]: unknown;
}
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const signature = (text: string): string => createHmac("sha256", secret).update(text).digest("base64url");

function token(claims: Claims = {}, header: object = {}, key = signature): string {
  const now = Math.floor(Date.now() / 1000);
  const text = `${part({ alg: "HS256", typ: "at+jwt", ...header })}.${part({ sub: "ada", iss: issuer, aud: resource, exp: now + 60, scope: "mcp:read mcp:write", ...claims })}`;
  return `${text}.${key(text)}`;
}

const seen: string[] = [];

/** Checks what a resource server has to check of a JWT. */
function verify(jwt: string): { id: string; scopes: string[] } | undefined {
  seen.push(jwt);
  const [header, body, signed] = jwt.split(".") as [string, string, string];
  const { alg, typ } = JSON.parse(Buffer.from(header, "base64url").toString()) as { alg: string; typ: string };
  if (alg !== "HS256" || typ !== "at+jwt") return undefined;
  const expected = Buffer.from(signature(`${header}.${body}`));
  if (signed.length !== expected.length || !timingSafeEqual(Buffer.from(signed), expected)) return undefined;
  const claims = JSON.parse(Buffer.from(body, "base64url").toString()) as {
    sub: string;
    iss: string;
    aud: string;
    exp: number;
    scope: string;
  };
  if (claims.iss !== issuer || claims.aud !== resource || claims.exp * 1000 < Date.now()) return undefined;
  return { id: claims.sub, scopes: claims.scope.split(" ") };
}

const auth = { verify, scopes: ["mcp:read", "mcp:write"], metadata: { resource, authorization_servers: [issuer] } };
const faults: unknown[] = [];
const options: ServeOptions = { auth, onFault: (fault) => faults.push(fault) };
const body = modern(1, "tools/call", { name: "echo", arguments: {} });

interface Answer {
  readonly status: number;
  readonly challenge: string | null;
}
type Ask = (url: string, headers: Record<string, string>, query?: string) => Promise<Answer>;

const asks: Record<string, Ask> = {
  http: async (url, headers, query = "") => {
    const answer = await fetch(url + query, {
      method: "POST",
      headers: { ...modernHeaders(body), ...headers },
      body: JSON.stringify(body),
    });
    await answer.text();
    return { status: answer.status, challenge: answer.headers.get("www-authenticate") };
  },
  "sse+http": async (url, headers, query = "") => {
    const answer = await fetch(url + query, { headers });
    await answer.body?.cancel();
    return { status: answer.status, challenge: answer.headers.get("www-authenticate") };
  },
  ws: (url, headers, query = "") =>
    new Promise((resolve) => {
      const socket = new WebSocket(url + query, ["mcp"], { headers });
      socket.on("error", () => {});
      socket.once("open", () => {
        socket.terminate();
        resolve({ status: 200, challenge: null });
      });
      socket.once("unexpected-response", (_request, response) => {
        socket.terminate();
        resolve({ status: response.statusCode as number, challenge: response.headers["www-authenticate"] ?? null });
      });
    }),
};

afterEach(() => {
  seen.length = faults.length = 0;
});

describe.each(Object.entries(asks))("credentials over %s", (scheme, ask) => {
  const bearer = (jwt: string) => ({ authorization: `Bearer ${jwt}` });

  it("4: no token is a 401 that names the metadata, which is served", async () => {
    await using at = await open(options, scheme);
    const { status, challenge } = await ask(at.url, {});
    expect(status).toBe(401);
    const path = new URL(at.url).pathname;
    expect(challenge).toBe(
      `Bearer scope="mcp:read mcp:write", resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource${path}"`,
    );
    const found = await fetch(`${at.url.replace(/^ws/, "http").slice(0, -path.length)}/.well-known/oauth-protected-resource${path}`);
    expect([found.status, await found.json()]).toEqual([200, auth.metadata]);
    expect(at.calls).toEqual([]);
  });

  it("5, 6: a token for another audience, of another issuer, expired, unsigned or of another type is a 401", async () => {
    await using at = await open(options, scheme);
    const bad: readonly string[] = [
      token({ aud: "https://other.example/mcp" }),
      token({ aud: `${resource}/` }),
      token({ iss: "https://evil.example" }),
      token({ exp: Math.floor(Date.now() / 1000) - 10 }),
      token({}, { alg: "none" }, () => ""),
      token({}, { alg: "none" }),
      token({}, { typ: "JWT" }),
      token({}, {}, () => "forged"),
      "garbage",
    ];
    for (const jwt of bad) {
      const { status, challenge } = await ask(at.url, bearer(jwt));
      expect(status).toBe(401);
      expect(challenge).toContain('error="invalid_token", scope="mcp:read mcp:write"');
      expect(challenge).toContain("resource_metadata=");
    }
    expect(at.calls).toEqual([]);
    expect((await ask(at.url, bearer(token()))).status).toBe(200);
  });

  it("7: a token in the query is not looked at and not told to anyone", async () => {
    await using at = await open(options, scheme);
    const jwt = token();
    for (const query of [`?access_token=${jwt}`, `?token=${jwt}&authorization=Bearer%20${jwt}`]) {
      const { status, challenge } = await ask(at.url, {}, query);
      expect(status).toBe(401);
      expect(challenge).not.toContain(jwt);
    }
    expect(seen).toEqual([]);
    expect(JSON.stringify(faults)).not.toContain(jwt);
  });

  it("8: a missing scope is a 403 that names every scope that is needed", async () => {
    await using at = await open(options, scheme);
    for (const scope of ["", "mcp:read", "mcp:write other"]) {
      const { status, challenge } = await ask(at.url, bearer(token({ scope })));
      expect(status).toBe(403);
      expect(challenge).toContain('error="insufficient_scope", scope="mcp:read mcp:write"');
    }
    expect(at.calls).toEqual([]);
  });

  it("a verifier that fails lets nobody in, and the server lives", async () => {
    await using at = await open(
      {
        auth: {
          verify: () => {
            throw new Error("no keys today");
          },
        },
      },
      scheme,
    );
    expect((await ask(at.url, bearer("x"))).status).toBe(401);
    expect((await ask(at.url, bearer("y"))).status).toBe(401);
  });
});

describe("35: URLs that a peer names", () => {
  it("never become a challenge that points anywhere but to http or https", async () => {
    for (const bad of ["javascript:alert(1)", "file:///etc/passwd", "$(touch /tmp/x)", "`id`"]) {
      await using at = await open({ auth: { verify, metadata: { resource: bad } } });
      const { challenge } = await (asks["http"] as Ask)(at.url, {});
      expect(challenge).toBe(`Bearer resource_metadata="${at.url.replace("/mcp", "")}/.well-known/oauth-protected-resource/mcp"`);
    }
  });

  it("are refused as the endpoint of HTTP+SSE unless they are of the same origin", async () => {
    for (const endpoint of [
      "javascript:alert(1)",
      "file:///etc/passwd",
      "http://169.254.169.254/latest",
      "//evil.example/x",
      "https://$(id)/",
    ]) {
      let posts = 0;
      const evil = createHttp((request, response) => {
        if (request.method === "POST") posts++;
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(`event: endpoint\ndata: ${endpoint}\n\n`);
      });
      await new Promise<void>((resolve) => evil.listen(0, "127.0.0.1", resolve));
      const { port } = evil.address() as AddressInfo;
      await expect(connect(`sse+http://127.0.0.1:${port}/sse`)).rejects.toMatchObject({ code: "denied" });
      expect(posts).toBe(0);
      evil.closeAllConnections();
      await new Promise((resolve) => evil.close(resolve));
    }
  });
});
