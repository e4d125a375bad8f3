import { expect, it } from "vitest";
import { sseParser, writeSse } from "./sse.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

it("reads what it wrote, in chunks of any size", () => {
  const event = { id: "7", event: "message", data: '{"a":"é"}' };
  const parser = sseParser({ maxBytes: 100 });
  const read = [...bytes(writeSse(event))].flatMap((byte) => [...parser.push(Uint8Array.of(byte))]);
  expect(read).toEqual([event]);
});

it("refuses an event beyond the limit, and everything after it", () => {
  const parser = sseParser({ maxBytes: 10 });
  const refused = expect.objectContaining({ code: "overload", data: { limit: "messageBytes", max: 10 } });
  for (const text of ["data: 0123456789a", writeSse({ data: "1" })]) expect(() => parser.push(bytes(text))).toThrow(refused);
});

it("refuses bytes that are not UTF-8", () => {
  const parser = sseParser({ maxBytes: 10 });
  expect(() => parser.push(Uint8Array.of(0xff))).toThrow(expect.objectContaining({ code: "parse" }));
});
