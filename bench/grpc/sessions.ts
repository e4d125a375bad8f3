import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { connect } from "anywire";
import { grpcChannel } from "../../dist/io/index.js";
import { listening } from "../child.js";
import { textOf } from "../first.js";
import { held } from "../memory.js";

const SESSION = "/mcp.v1.McpService/Session";
/** A SessionRequest that pings: message_id "1", an empty PingRequest. */
const PING = Uint8Array.of(0x0a, 1, 0x31, 0x5a, 0);

/** Bytes that each process holds more with `count` Session streams open on one connection, each of which was used once. */
export async function holdSessions(count: number): Promise<{ readonly client: number; readonly server: number }> {
  await using server = await listening("anywire", "plain", "grpc://127.0.0.1:0");
  await using observer = await connect(server.address);
  const resident = async (): Promise<number> => Number(textOf(await observer.callTool("held")));
  const child = fork(fileURLToPath(import.meta.url), [server.address.slice("grpc://".length), String(count)], {
    execArgv: ["--expose-gc"],
  });
  try {
    await once(child, "message");
    const before = await resident();
    child.send("open");
    const [client] = (await once(child, "message")) as [number];
    return { client, server: (await resident()) - before };
  } finally {
    child.kill();
  }
}

async function hold(address: string, count: number): Promise<void> {
  const [host, port] = address.split(":") as [string, string];
  const channel = grpcChannel([{ host, port: Number(port) }]);
  const open = async (): Promise<void> => {
    const call = channel.call(SESSION, { metadata: { "anywire-twins": "1" } });
    void call.send(PING);
    await call.messages[Symbol.asyncIterator]().next();
    calls.push(call);
  };
  const calls: unknown[] = [];
  await open();
  process.send?.("ready");
  await once(process, "message");
  const before = held();
  await Promise.all(Array.from({ length: count }, open));
  process.send?.(held() - before);
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  process.on("disconnect", () => process.exit());
  await hold(process.argv[2] as string, Number(process.argv[3]));
}
