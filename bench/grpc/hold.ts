import { once } from "node:events";
import { grpcJs, ours } from "./clients.js";
import { CHAT } from "./service.js";

// A child process of the bench that opens many streams. Sends its memory before, and after it was told to open them.

const [stack, port, count] = process.argv.slice(2);
const OPEN = Number(count);

const resident = (): number => {
  (globalThis as { gc?: () => void }).gc?.();
  return process.memoryUsage.rss();
};

async function openOurs(): Promise<() => Promise<unknown>> {
  const { channel, unary } = ours(Number(port));
  await unary(1, 1);
  return () => Promise.all(Array.from({ length: OPEN }, () => channel.call(CHAT).headers));
}

async function openGrpcJs(): Promise<() => Promise<unknown>> {
  const { client, unary } = grpcJs(Number(port));
  await unary(1, 1);
  const bytes = (value: Buffer): Buffer => value;
  return () => Promise.all(Array.from({ length: OPEN }, () => once(client.makeBidiStreamRequest(CHAT, bytes, bytes), "metadata")));
}

const open = await (stack === "ours" ? openOurs() : openGrpcJs());
process.on("disconnect", () => process.exit());
process.once("message", async () => {
  const before = resident();
  await open();
  process.send?.(resident() - before);
});
process.send?.(0);
