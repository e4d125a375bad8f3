import { describe, expect, it } from "vitest";
import { Fault, type FaultCode, grpcStatuses } from "../../core/index.js";
import { readStatus } from "./read-status.js";
import { resetToGrpc } from "./reset.js";
import { faultStatus, httpToGrpc, statusFault } from "./status.js";

describe("statuses", () => {
  it("become faults that become the same status again", () => {
    for (let code = 1; code <= 16; code++) {
      const fault = statusFault({ code, message: "why" });
      expect(faultStatus(fault)).toEqual({ code, message: "why" });
      expect(fault.data).toMatchObject({ grpcStatus: code });
    }
  });

  it("come from every fault, and mean the same to the other end", () => {
    for (const code of Object.keys(grpcStatuses) as FaultCode[]) {
      const there = statusFault(faultStatus(new Fault(code, "why")));
      expect(grpcStatuses[there.code] === grpcStatuses[code] || there.code === "invalid-request", code).toBe(true);
    }
  });

  it("keep trailers in the fault's data, and do not send them on", () => {
    const fault = statusFault({ code: 14, message: "gone", metadata: { "x-a": "1" } });
    expect(fault).toMatchObject({ code: "unavailable", data: { grpcStatus: 14, reason: "status", trailers: { "x-a": "1" } } });
    expect(faultStatus(fault).metadata).toBeUndefined();
  });

  it("have words where the server has none", () => {
    expect([statusFault({ code: 10 }).message, statusFault({ code: 99, message: "" }).message]).toEqual([
      "the call ended with ABORTED",
      "the call ended with status 99",
    ]);
  });

  it("are read from trailers, UNKNOWN if they make no sense", () => {
    expect(readStatus({ "grpc-status": "5", "grpc-message": "no%20way" })).toMatchObject({ code: 5, message: "no way" });
    expect(["", "abc", "-1", "1e3"].map((text) => readStatus({ "grpc-status": text })?.code)).toEqual([2, 2, 2, 2]);
    expect(readStatus({})).toBeUndefined();
  });

  it("stand for HTTP statuses and resets", () => {
    expect([400, 401, 403, 404, 429, 502, 503, 504, 500, 302].map(httpToGrpc)).toEqual([13, 16, 7, 12, 14, 14, 14, 14, 2, 2]);
    expect([0, 1, 2, 7, 8, 11, 12].map(resetToGrpc)).toEqual([13, 13, 13, 14, 1, 8, 7]);
  });
});
