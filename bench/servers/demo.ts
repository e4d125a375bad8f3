/** The demo server on several wires in one process; prints their addresses. ANYWIRE_BASE may name another checkout that is built. */
import { pathToFileURL } from "node:url";

const base = process.env["ANYWIRE_BASE"];
const root = base === undefined ? new URL("../../", import.meta.url) : pathToFileURL(`${base}/`);
const { serve } = (await import(new URL("dist/api/index.js", root).href)) as typeof import("anywire");
const { demoServer } = (await import(new URL("dist/demo/index.js", root).href)) as { demoServer(): Parameters<typeof serve>[0] };

const addresses = ["grpc://127.0.0.1:0", "ws://127.0.0.1:0", "sse+http://127.0.0.1:0", "http://127.0.0.1:0"];
const listeners = await Promise.all(addresses.map((address) => serve(demoServer(), address)));
console.log(JSON.stringify(listeners.map(({ address }) => address)));
