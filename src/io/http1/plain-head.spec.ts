import { expect, it } from "vitest";
import { BODY_FOLLOWS, PlainReader, type PlainRequest } from "./plain-head.js";

const head = ["POST /mcp?x=1 HTTP/1.1", "Host: localhost", "Content-Type: application/json", "Content-Length: 2"];

function read(lines: readonly string[], body = "{}"): ReturnType<PlainReader["read"]> {
  return new PlainReader(1024).read(Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`, "latin1"));
}

function whole(lines: readonly string[]): PlainRequest | undefined {
  const request = read(lines);
  return request === BODY_FOLLOWS ? undefined : request;
}

it("reads a POST that has come whole", () => {
  const request = whole([...head, "X-Much:  a: b\t ", "Connection: Keep-Alive", "X-None:"]);
  expect(request?.head).toEqual({
    target: "/mcp?x=1",
    headers: {
      host: "localhost",
      "content-type": "application/json",
      "content-length": "2",
      "x-much": "a: b",
      connection: "Keep-Alive",
      "x-none": "",
    },
    raw: [
      ...["Host", "localhost", "Content-Type", "application/json", "Content-Length", "2"],
      ...["X-Much", "a: b", "Connection", "Keep-Alive", "X-None", ""],
    ],
    length: 2,
  });
  expect(request?.body.toString()).toBe("{}");
});

it("tells apart requests of one connection that differ in one byte", () => {
  const reader = new PlainReader(1024);
  const seen = ["a", "a", "b", "a"].map((token) => {
    const request = reader.read(Buffer.from(`${[...head, `Authorization: Bearer ${token}`].join("\r\n")}\r\n\r\n{}`));
    return request === BODY_FOLLOWS ? request : request?.head.headers["authorization"];
  });
  expect(seen).toEqual(["Bearer a", "Bearer a", "Bearer b", "Bearer a"]);
});

it("says that a small body follows its head", () => {
  const sized = (length: number): string[] => [...head.slice(0, -1), `Content-Length: ${length}`];
  expect(read(head, "{")).toBe(BODY_FOLLOWS);
  expect(read(sized(16 * 1024), "")).toBe(BODY_FOLLOWS);
  expect(read(sized(16 * 1024 + 1), "")).toBeUndefined();
});

it.each<[string, readonly string[], string?]>([
  ["a body that is longer, or a second request", head, "{}POST"],
  ["another method", ["GET /mcp HTTP/1.1", ...head.slice(1)]],
  ["another version", ["POST /mcp HTTP/1.0", ...head.slice(1)]],
  ["a target with a host", ["POST http://localhost/mcp HTTP/1.1", ...head.slice(1)]],
  ["a target with a space", ["POST /mcp x HTTP/1.1", ...head.slice(1)]],
  ["two spaces", ["POST  /mcp HTTP/1.1", ...head.slice(1)]],
  ["an empty line before it", ["", ...head]],
  ["no Host", head.filter((line) => !line.startsWith("Host"))],
  ["no Content-Length", head.slice(0, -1)],
  ["two Hosts", [...head, "host: evil"]],
  ["two Content-Lengths", [...head, "content-length: 2"]],
  ["any header twice", [...head, "X-A: 1", "x-a: 1"]],
  ["a signed length", [...head.slice(0, -1), "Content-Length: +2"]],
  ["a list of lengths", [...head.slice(0, -1), "Content-Length: 2, 2"]],
  ["a hexadecimal length", [...head.slice(0, -1), "Content-Length: 0x2"]],
  ["a length of many digits", [...head.slice(0, -1), "Content-Length: 0000000002"]],
  ["Transfer-Encoding", [...head, "Transfer-Encoding: chunked"]],
  ["Transfer-Encoding that means nothing", [...head, "Transfer-Encoding:"]],
  ["Upgrade", [...head, "Upgrade: h2c"]],
  ["Expect", [...head, "Expect: 100-continue"]],
  ["a connection that ends", [...head, "Connection: close"]],
  ["headers of the connection", [...head, "Connection: keep-alive, x-a"]],
  ["a space before the colon", [...head, "X-A : 1"]],
  ["a folded line", [...head, "X-A: 1", " 2"]],
  ["no colon", [...head, "X-A"]],
  ["no name", [...head, ": 1"]],
  ["a line feed alone", [...head, "X-A: 1\nX-B: 2"]],
  ["a carriage return alone", [...head, "X-A: 1\rX-B: 2"]],
  ["white space that is none", [...head, "X-A: 1\v"]],
  ["a zero byte", [...head, "X-A: 1\0"]],
  ["bytes beyond ASCII", [...head, "X-A: \xe9"]],
  ["the name of a prototype", [...head, "__proto__: x"]],
  ["many headers", [...head, ...Array.from({ length: 64 }, (_, at) => `X-${at}: 1`)]],
  ["long headers", [...head, `X-A: ${"x".repeat(1024)}`]],
])("leaves to the other reader: %s", (_what, lines, body) => {
  expect(read(lines, body)).toBeUndefined();
});
