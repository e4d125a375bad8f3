import { randomUUID } from "node:crypto";
import { afterEach } from "vitest";
import { type ConnectOptions, connect, Fault, type McpClient, type Service, serve } from "../../src/api/index.js";
import { type SdkServer, type SdkServerFactory, type SdkService, type SdkServiceOptions, sdkService } from "../../src/sdk/index.js";

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A service on a wire, and clients of it. */
export async function lab(service: Service): Promise<(options?: ConnectOptions) => Promise<McpClient>> {
  const address = `memory:${randomUUID()}`;
  const listener = await serve(service, address);
  closing.push(() => listener.close());
  return async (options = {}) => {
    const client = await connect(address, options);
    closing.push(() => client.close());
    return client;
  };
}

/** Counts the servers that live. */
export function counted(factory: SdkServerFactory): { factory: SdkServerFactory; made: () => number; alive: () => number } {
  let made = 0;
  let alive = 0;
  return {
    made: () => made,
    alive: () => alive,
    async factory(context) {
      const server = await factory(context);
      made++;
      alive++;
      const { close } = server;
      let closed = false;
      server.close = async () => {
        if (!closed) alive--;
        closed = true;
        await close.call(server);
      };
      return server;
    },
  };
}

export function opened(source: SdkServer | SdkServerFactory, options?: SdkServiceOptions): SdkService {
  const service = sdkService(source, options);
  closing.push(() => service.close());
  return service;
}

export const asking: ConnectOptions = { elicit: () => ({ action: "accept", content: { name: "Ada" } }) };
export const faultOf = (promise: Promise<unknown>): Promise<Fault> =>
  promise.then(
    () => Promise.reject(new Error("it did not fail")),
    (error) => (error instanceof Fault ? error : Promise.reject(error)),
  );
