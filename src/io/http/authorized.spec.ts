import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { authorized, type Challenge, type HttpAuth } from "./authorized.js";
import { httpClient } from "./request.js";

/** Takes the token "good" alone. */
const server = createServer((request, response) => {
  seen.push(`${request.method} ${request.headers.authorization ?? "nobody"}`);
  const good = request.headers.authorization === "Bearer good";
  response.writeHead(good ? 200 : 401, { "www-authenticate": 'Bearer scope="a"' }).end(good ? "in" : "out");
});
let seen: string[] = [];
let challenges: Challenge[] = [];
let token: string | undefined;
let url: URL;
const client = httpClient();

beforeEach(async () => {
  seen = [];
  challenges = [];
  token = undefined;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function auth(challenged: () => boolean): HttpAuth {
  return {
    headers: async () => (token === undefined ? {} : { authorization: `Bearer ${token}` }),
    async challenged(challenge) {
      challenges.push(challenge);
      return challenged();
    },
  };
}
const renewing = auth(() => {
  token = "good";
  return true;
});

for (const method of ["GET", "POST"])
  it(`sends a refused ${method} again with what it got since`, async () => {
    token = "old";
    const sent = await authorized(client, renewing).send(method, url, { headers: {}, ...(method === "POST" ? { body: "x" } : {}) });
    expect([sent.status, await sent.text(10)]).toEqual([200, "in"]);
    expect(seen).toEqual([`${method} Bearer old`, `${method} Bearer good`]);
    expect(challenges[0]).toMatchObject({ status: 401, sent: { authorization: "Bearer old" }, before: [] });
    expect(challenges[0]?.header("www-authenticate")).toBe('Bearer scope="a"');
  });

it("gives the refusal back whole if there is nothing to be done", async () => {
  const sent = await authorized(
    client,
    auth(() => false),
  ).send("POST", url, { headers: {}, body: "x" });
  expect([sent.status, await sent.text(10)]).toEqual([401, "out"]);
  const chunks: Uint8Array[] = [];
  for await (const chunk of sent.body) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toBe("out");
});

it("gives up in the end, whatever the credentials say", async () => {
  const sent = await authorized(
    client,
    auth(() => true),
  ).send("GET", url, { headers: {} });
  expect(sent.status).toBe(401);
  expect(challenges.map(({ before }) => before)).toEqual([[], [401], [401, 401]]);
});

it("signs nobody in to end a session", async () => {
  expect((await authorized(client, renewing).send("DELETE", url, { headers: {} })).status).toBe(401);
  expect(challenges).toEqual([]);
});
