import { type ServeOptions, serve } from "../api/index.js";
import { closable, defaultTimeouts, type Fault, type Listener, layered, type Service } from "../core/index.js";
import { checkOptions } from "./check-options.js";
import { Dialer } from "./dialer.js";
import type { Bridge, BridgeOptions, ListenAt } from "./types.js";
import { Upstreams } from "./upstreams.js";

/** Serves the server behind one address on others: any wire to any wire, either era on each side. */
export async function bridge(options: BridgeOptions): Promise<Bridge> {
  checkOptions(options);
  const dialer = new Dialer(options);
  const upstreams = new Upstreams(dialer, options);
  const service = layered(upstreams, ...(options.layers ?? []));
  const listeners: Listener[] = [];
  try {
    if (options.lazy !== true) await upstreams.start();
    for (const at of options.listen) listeners.push(await listenAt(service, at, options));
  } catch (error) {
    await Promise.all(listeners.map((listener) => listener.close()));
    await upstreams.close();
    throw error;
  }

  const { close } = closable(async () => {
    await Promise.all(listeners.map((listener) => listener.close()));
    await upstreams.close();
  });
  // Without listeners, no client can come any more.
  const closed: Promise<Fault | undefined> = Promise.all(listeners.map((listener) => listener.closed)).then(() =>
    close().then(() => undefined),
  );
  return { listeners, upstream: dialer, closed, close, [Symbol.asyncDispose]: close };
}

function listenAt(service: Service, at: BridgeOptions["listen"][number], options: BridgeOptions): Promise<Listener> {
  const { address, options: given } = isListenAt(at) ? at : { address: at, options: undefined };
  const shared: ServeOptions = {
    idleMs: options.clientIdleMs ?? defaultTimeouts.clientIdleMs,
    leftMs: options.clientLeftMs ?? defaultTimeouts.clientLeftMs,
    sealKey: options.sealKey,
    observe: options.observe,
    onFault: options.onFault,
    ...options.serve,
  };
  return serve(service, address, { ...shared, ...given });
}

function isListenAt(at: BridgeOptions["listen"][number]): at is ListenAt {
  return typeof at === "object" && "address" in at;
}
