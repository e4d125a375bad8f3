import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { reachOf } from "../../src/oauth/addresses.js";
import { guardedFetch } from "../../src/oauth/index.js";

const remote = guardedFetch(new URL("https://203.0.113.7/mcp"));
const local = guardedFetch(new URL("http://127.0.0.1:9/mcp"));
const reason = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "fetched",
    (error: Error) => (error.cause as { data?: { reason?: string } }).data?.reason ?? "unreachable",
  );

describe("row 36: what a server's metadata points to", () => {
  let hits = 0;
  const here = createServer((request, response) => {
    hits++;
    if (request.url === "/away") response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data" });
    response.end("x".repeat(request.url === "/large" ? 2 * 1024 * 1024 : 2));
  });
  let port = 0;
  beforeAll(async () => {
    await new Promise<void>((resolve) => here.listen(0, "127.0.0.1", resolve));
    port = (here.address() as AddressInfo).port;
  });
  afterAll(() => void here.close());

  for (const host of [
    "169.254.169.254",
    "[fe80::1]",
    "[::ffff:169.254.169.254]",
    "[fd00:ec2::254]",
    "0.0.0.0",
    "10.0.0.1",
    "127.0.0.1",
    "2852039166",
  ])
    it(`is not fetched for a public server at ${host}`, async () => {
      expect(await reason(remote(`https://${host}/`))).toBe("refused-address");
    });

  it("is not fetched from a name that resolves to such an address", async () => {
    expect(await reason(remote(`https://localhost:${port}/`))).toBe("refused-address");
    expect(hits).toBe(0);
  });

  it("is not fetched without TLS", async () => {
    expect(await reason(remote("http://203.0.113.9/"))).toBe("refused-address");
    expect(await reason(local("http://203.0.113.9/"))).toBe("refused-address");
    expect(await reason(local("file:///etc/passwd"))).toBe("refused-address");
  });

  it("may be on this machine if the server is", async () => {
    expect(await (await local(`http://127.0.0.1:${port}/`)).text()).toBe("xx");
    expect(await (await local(`http://localhost:${port}/`)).text()).toBe("xx");
  });

  it("is never link-local, also for a server on this machine", async () => {
    expect(await reason(local("https://169.254.169.254/"))).toBe("refused-address");
  });

  it("does not follow a redirect by itself, nor take an answer without end", async () => {
    const response = await local(`http://127.0.0.1:${port}/away`);
    expect(response.status).toBe(302);
    await expect(local(`http://127.0.0.1:${port}/large`)).rejects.toThrow(/larger/);
  });
});

it("knows addresses by where they lead", () => {
  expect(reachOf("169.254.1.1")).toBe("forbidden");
  expect(reachOf("::ffff:127.0.0.1")).toBe("loopback");
  expect(reachOf("fd12::1")).toBe("private");
  expect(reachOf("172.32.0.1")).toBe("public");
  expect(reachOf("2606:4700::1")).toBe("public");
});
