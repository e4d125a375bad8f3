// Our client at the address of a bad server, call after call. Whatever comes, each call is settled. Argument: the address, as JSON.
import { connect } from "../../dist/api/index.js";
import { answerMemory } from "./memory.mjs";

const address = JSON.parse(process.argv[2]);
/** Milliseconds for a call, and those after which it hangs. */
const TIMEOUT = 500;
const HANG = 12_000;
const ROUNDS = 20;
/** Of each kind of call. */
const AT_ONCE = 10;
let settled = 0;
let hung = 0;
answerMemory(() => ({ settled, hung }));

async function watched(promise) {
  const timer = setTimeout(() => hung++, HANG);
  await promise.catch(() => {});
  clearTimeout(timer);
  settled++;
}

async function drained(items) {
  let left = 50;
  for await (const _ of items) if (left-- === 0) break;
}

async function life() {
  const client = await connect(address, {
    timeout: TIMEOUT,
    handshakeMs: 3000,
    stderr: "ignore",
    elicit: () => ({ action: "decline" }),
    roots: [],
    onFault: () => {},
    onLog: () => {},
    onProgress: () => {},
    onNotification: () => {},
  });
  const calls = [
    () => client.callTool("echo", { text: "x" }),
    () => client.ping(),
    () => drained(client.tools()),
    () => drained(client.readChunks("demo://readme")),
    () => client.getPrompt("review", { a: "b" }),
  ];
  const many = Array.from({ length: AT_ONCE }, () => calls).flat();
  for (let at = 0; at < ROUNDS; at++) await Promise.all(many.map((call) => watched(call())));
  await client.close();
}

for (;;) await life().catch(() => {});
