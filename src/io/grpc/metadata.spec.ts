import type { OutgoingHttpHeaders } from "node:http2";
import { describe, expect, it } from "vitest";
import { addMetadata, binary, fromBinary, receivedMetadata, valuesOf } from "./metadata.js";
import type { Metadata } from "./types.js";

const sent = (metadata: Metadata): OutgoingHttpHeaders => {
  const headers: OutgoingHttpHeaders = {};
  addMetadata(headers, metadata);
  return headers;
};

describe("metadata", () => {
  it("hides what belongs to HTTP and gRPC", () => {
    const headers = { ":path": "/a/b", te: "trailers", "content-type": "application/grpc", "grpc-timeout": "1S", "grpc-encoding": "gzip" };
    expect({ ...receivedMetadata({ ...headers, "x-a": "1", "user-agent": "u" }) }).toEqual({ "x-a": "1", "user-agent": "u" });
  });

  it("keeps repeated values apart, and values with commas together", () => {
    const raw = ["x-a", "1", "x-a", "2, 3", "x-b", "4, 5"];
    const read = receivedMetadata({ "x-a": "1, 2, 3", "x-b": "4, 5", "x-c-bin": "AA,BB, CC" }, raw);
    expect({ ...read }).toEqual({ "x-a": ["1", "2, 3"], "x-b": "4, 5", "x-c-bin": ["AA", "BB", "CC"] });
    expect([valuesOf(read, "x-a"), valuesOf(read, "x-b"), valuesOf(read, "x-none")]).toEqual([["1", "2, 3"], ["4, 5"], []]);
  });

  it("pollutes nothing", () => {
    const headers = JSON.parse('{"__proto__":"x","constructor":"y"}') as Record<string, string>;
    const read = receivedMetadata(headers);
    expect(Object.keys(read)).toEqual(["__proto__", "constructor"]);
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });

  it("refuses names that are reserved or no names", () => {
    for (const name of [":path", "te", "content-type", "grpc-status", "grpc-timeout", "connection", "host", "X-Upper", "a b", "a\n", ""]) {
      expect(() => sent({ [name]: "v" }), JSON.stringify(name)).toThrow("cannot be sent");
    }
    expect(sent({ "grpc-status-details-bin": "AA", "x-a": ["1", "2"] })).toEqual({ "grpc-status-details-bin": "AA", "x-a": ["1", "2"] });
  });

  it("refuses values that would break or bend headers", () => {
    for (const value of ["a\r\nb", "a\nb", "a\0", "é", "\x7f"]) expect(() => sent({ "x-a": value })).toThrow("cannot be sent");
    for (const value of ["not base64", "AA,BB", "AA\n"]) expect(() => sent({ "x-a-bin": ["AA", value] })).toThrow("cannot be sent");
  });

  it("encodes octets without padding and decodes either form", () => {
    const octets = Uint8Array.of(0, 1, 254, 255);
    expect(binary(octets)).toBe("AAH+/w");
    expect([...fromBinary("AAH+/w"), ...fromBinary("AAH+/w==")]).toEqual([...octets, ...octets]);
  });
});
