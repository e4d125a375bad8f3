import { once } from "node:events";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { decodeToServer, encodeToServer } from "../codec/mcpv1/index.js";
import { messageTooLarge } from "../core/index.js";
import type { Framing } from "./framing.js";
import { lineLink } from "./line-link.js";

const PREFIX = 4;

/** Four bytes of length, highest first, and a message of protobuf. */
const delimited: Framing = {
  write(message) {
    const bytes = encodeToServer(message as never, { twin: true });
    const framed = Buffer.alloc(PREFIX + bytes.length);
    framed.writeUInt32BE(bytes.length);
    framed.set(bytes, PREFIX);
    return framed;
  },
  reader({ maxBytes, depth }) {
    let held = Buffer.alloc(0);
    return {
      push(bytes) {
        held = Buffer.concat([held, bytes]);
        const messages = [];
        while (held.length >= PREFIX) {
          const length = held.readUInt32BE();
          if (length > maxBytes && messages.length > 0) break;
          if (length > maxBytes) throw messageTooLarge(maxBytes);
          if (held.length < PREFIX + length) break;
          messages.push(decodeToServer(held.subarray(PREFIX, PREFIX + length), { depth }));
          held = held.subarray(PREFIX + length);
        }
        return messages;
      },
      end() {
        return this.push(Buffer.alloc(0));
      },
    };
  },
};

const call = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "echo", arguments: { text: "ü" } } } as const;

describe("a link with a framing of its own", () => {
  it("writes messages as the framing does, and reads them wherever they are cut", async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const link = lineLink(input, output, { framing: delimited });
    await link.send(call);
    await once(output, "readable");
    const sent = output.read() as Buffer;
    expect(sent.readUInt32BE()).toBe(sent.length - PREFIX);
    for (const octet of Buffer.concat([sent, sent])) input.write(Buffer.of(octet));
    input.end();
    const got: unknown[] = [];
    for await (const batch of link.incoming) got.push(...batch);
    const { jsonrpc: _, ...request } = call;
    expect(got).toEqual([
      { kind: "request", ...request },
      { kind: "request", ...request },
    ]);
    await link.close();
  });

  it("gives out many that come at once, and ends with what the framing throws", async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const link = lineLink(input, output, { framing: delimited, messageBytes: 1000 });
    const frame = Buffer.from(delimited.write(call));
    input.write(Buffer.concat(Array.from({ length: 3000 }, () => frame)));
    input.end(Buffer.of(0, 0, 4, 0));
    let count = 0;
    const read = async (): Promise<void> => {
      for await (const batch of link.incoming) count += batch.length;
    };
    await expect(read()).rejects.toMatchObject({ code: "overload" });
    expect(count).toBe(3000);
    await link.close();
  });

  it("refuses to send what is longer than may be sent", async () => {
    const link = lineLink(new PassThrough(), new PassThrough(), { framing: delimited, sendLength: 20 });
    await expect(link.send(call)).rejects.toMatchObject({ code: "overload" });
    await link.close();
  });
});
