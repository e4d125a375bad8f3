import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { connect } from "../../dist/api/index.js";

const script = (name) => fileURLToPath(new URL(name, import.meta.url));
const next = (child) =>
  new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", (code, signal) => reject(new Error(`${child.spawnargs[1]} ended: ${code ?? signal}`)));
  });

/** Numbers from 0 to `n` - 1, the same for the same seed. */
export function random(seed) {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

/** A bridge with every wire on one port, in a process of its own, in front of the light server. `mark` is in the arguments of all that belongs to it. */
export async function startBridge(options = {}) {
  const mark = `load-${randomUUID()}`;
  const to = { command: process.execPath, args: [script("server.mjs"), mark] };
  const child = fork(script("bridge.mjs"), [JSON.stringify({ listen: ["any://127.0.0.1:0"], to, ...options }), mark], {
    execArgv: ["--expose-gc"],
  });
  const { address } = await next(child);
  child.removeAllListeners("exit");
  return {
    child,
    mark,
    host: address.replace("any://", ""),
    async held() {
      const answer = next(child);
      child.send("held");
      const held = await answer;
      child.removeAllListeners("exit");
      return held;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.disconnect();
      await ended;
    },
  };
}

/** A client in a process of its own that calls without end. */
export async function startClient(address, options) {
  const child = fork(script("client.mjs"), [address, JSON.stringify(options)]);
  await next(child);
  child.removeAllListeners("exit");
  return child;
}

/** Where each wire is on a port that has them all, and the eras that it can have. */
export const wires = {
  http: { at: (host) => `http://${host}/mcp`, eras: ["legacy", "modern"] },
  sse: { at: (host) => `sse+http://${host}/sse`, eras: ["legacy"] },
  ws: { at: (host) => `ws://${host}/mcp`, eras: ["legacy", "modern"] },
  session: { at: (host) => `grpc://${host}`, eras: ["legacy", "modern"] },
  unary: { at: (host) => `grpc://${host}`, eras: ["legacy", "modern"], options: { calls: "rpc" } },
  tunnel: { at: (host) => `tunnel+grpc://${host}`, eras: ["legacy", "modern"] },
  lines: { at: (host) => `tcp://${host}`, eras: ["legacy", "modern"] },
};
const names = Object.keys(wires);

/** A client of a wire and an era that the numbers choose, which can be asked now and then. */
export async function openClient(host, pick, { asked = pick(8) === 0, ...options } = {}) {
  const name = names[pick(names.length)];
  const { at, eras, options: own } = wires[name];
  const era = eras[pick(eras.length)];
  const answers = asked ? { elicit: ({ message }) => ({ action: "accept", content: { answer: message } }) } : {};
  const client = await connect(at(host), { era, ...own, ...answers, ...options });
  return { client, asked, name: `${name}, ${era}` };
}

export class Hung extends Error {}

/** Waits for a promise, and not for ever. */
export function within(promise, ms, what) {
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Hung(`${what} hung for ${ms / 1000} s`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** The processes that have a mark in their arguments. */
export function marked(mark) {
  return readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").includes(mark);
    } catch {
      return false;
    }
  });
}

/** Waits until a condition holds; false if it does not in time. */
export async function eventually(holds, ms) {
  for (const until = Date.now() + ms; Date.now() < until; ) {
    if (await holds()) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return holds();
}
