import { describe, expect, it } from "vitest";
import { checkTrustedProxy, forwardedBy, type TrustedProxyOptions } from "./trusted-proxy.js";

const proxies: TrustedProxyOptions = { addresses: ["10.0.0.0/8", "192.168.1.7", "fd00::/8"], userHeader: "x-user" };

function from(
  remote: string | undefined,
  headers: Record<string, string> = {},
  options: TrustedProxyOptions | undefined = proxies,
): unknown {
  return forwardedBy({ remote, header: (name) => headers[name] }, options);
}

describe("forwardedBy()", () => {
  it("believes proxies that are trusted, and nobody else", () => {
    const claims = { "x-forwarded-for": "203.0.113.9", "x-user": "ada" };
    expect(from("10.1.2.3", claims)).toEqual({ remote: "203.0.113.9", user: "ada" });
    expect(from("::ffff:10.1.2.3", claims)).toEqual({ remote: "203.0.113.9", user: "ada" });
    expect(from("fd12::1", claims)).toEqual({ remote: "203.0.113.9", user: "ada" });
    expect(from("192.168.1.8", claims)).toEqual({ remote: "192.168.1.8", user: undefined });
    expect(from(undefined, claims)).toEqual({ remote: undefined, user: undefined });
    expect(from("10.1.2.3", claims, { addresses: [] })).toEqual({ remote: "10.1.2.3", user: undefined });
  });

  it("finds the client behind several proxies, whatever the client claims", () => {
    expect(from("10.0.0.1", { "x-forwarded-for": "1.1.1.1, 203.0.113.9, 10.9.9.9" })).toMatchObject({ remote: "203.0.113.9" });
    expect(from("10.0.0.1", { "x-forwarded-for": "10.0.0.2, 10.0.0.3" })).toMatchObject({ remote: "10.0.0.2" });
    expect(from("10.0.0.1", { "x-forwarded-for": "nonsense" })).toMatchObject({ remote: "10.0.0.1" });
    expect(from("10.0.0.1", { "x-forwarded-for": "[2001:db8::1]:443" })).toMatchObject({ remote: "2001:db8::1" });
    expect(from("10.0.0.1")).toEqual({ remote: "10.0.0.1", user: undefined });
  });

  it("refuses a user that several have named", () => {
    expect(() => from("10.0.0.1", { "x-user": "root, ada" })).toThrow("more than once");
  });

  it("refuses what is no network", () => {
    for (const text of ["example.com", "10.0.0.0/33", "10.0.0.0/x", "::1/129", ""])
      expect(() => checkTrustedProxy({ addresses: [text] })).toThrow("not an address");
  });
});
