import { type ServeOptions, serve } from "../api/index.js";
import type { Address, Listener } from "../core/index.js";
import { type SdkServiceOptions, sdkService } from "./sdk-service.js";
import type { SdkServer, SdkServerFactory } from "./types.js";

export interface ServeSdkOptions extends ServeOptions, SdkServiceOptions {}

/** Serves servers of the official SDK at an address, and closes them with the listener. */
export async function serveSdk(source: SdkServer | SdkServerFactory, address: Address, options: ServeSdkOptions = {}): Promise<Listener> {
  const service = sdkService(source, options);
  const listener = await serve(service, address, options);
  const closed = listener.closed.finally(() => service.close());
  const close = async (): Promise<void> => {
    await listener.close();
    await closed;
  };
  return { address: listener.address, closed, close, [Symbol.asyncDispose]: close };
}
