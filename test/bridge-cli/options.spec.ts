import * as grpc from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { connect } from "../../src/api/index.js";
import { everything } from "../cli/support.js";
import { overHttp, startBridge } from "./support.js";

const anyPort = ["--listen", "any://127.0.0.1:0"] as const;

describe("--max-body", () => {
  it("is told on every wire to whoever sends more", async () => {
    const bridge = await startBridge([...anyPort, "--max-body", "10kb", ...everything]);
    const url = bridge.at("Streamable HTTP");
    const post = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: "x".repeat(20_000) });
    expect([post.status, await post.text()]).toEqual([413, expect.stringContaining("larger than 10000 bytes")]);
    await expect((await overHttp(url)).callTool({ name: "echo", arguments: { message: "x".repeat(20_000) } })).rejects.toThrow(
      "10000 bytes",
    );
    const larger = { code: grpc.status.RESOURCE_EXHAUSTED, details: "a message is larger than 10000 bytes" };
    expect(await sessionStatus(bridge.at("gRPC").replace("grpc://", ""), Buffer.alloc(20_000, 0x61))).toMatchObject(larger);
    for (const title of ["gRPC", "gRPC tunnel", "WebSocket"]) {
      await using client = await connect(bridge.at(title));
      const call = client.callTool("echo", { message: "x".repeat(20_000) });
      await expect(Promise.resolve(call), title).rejects.toThrow(/larger than/);
    }
  });
});

/** The status of a Session stream of grpc-js after one message with an unknown field of this content. */
function sessionStatus(authority: string, content: Buffer): Promise<grpc.StatusObject> {
  const channel = new grpc.Client(authority, grpc.credentials.createInsecure());
  const identity = (bytes: Buffer): Buffer => bytes;
  const stream = channel.makeBidiStreamRequest("/mcp.v1.McpService/Session", identity, identity);
  stream.on("error", () => {}).resume();
  const head = [0x7a, (content.length & 127) | 128, ((content.length >> 7) & 127) | 128, content.length >> 14];
  stream.write(Buffer.concat([Buffer.from(head), content]));
  return new Promise<grpc.StatusObject>((resolve) => stream.on("status", resolve)).finally(() => channel.close());
}
