import { type ServeOptions, serve } from "../api/index.js";
import { Fault, type Listener } from "../core/index.js";
import { type ClientTransportOptions, clientTransport } from "./client-transport.js";
import { type SdkServiceOptions, sdkService } from "./sdk-service.js";
import type { SdkExtra, SdkMessage, SdkSendOptions, SdkTransport } from "./types.js";

/** The part of the SDK's Transport that both transports share: handlers that the SDK sets. */
abstract class Passed implements SdkTransport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: SdkMessage, extra?: SdkExtra) => void) | undefined;

  abstract start(): Promise<void>;
  abstract send(message: SdkMessage, options?: SdkSendOptions): Promise<void>;
  abstract close(): Promise<void>;

  /** Passes on what arrives on another transport to this one's handlers. */
  protected hear(inner: SdkTransport, closed: () => void): void {
    inner.onmessage = (message, extra) => this.onmessage?.(message, extra);
    inner.onerror = (error) => this.onerror?.(error);
    inner.onclose = closed;
  }
}

/** Connects a `Client` of the SDK, v1 or v2, to a gRPC server: `await client.connect(new GrpcClientTransport("grpc://host:port"))`. */
export class GrpcClientTransport extends Passed {
  readonly #inner: SdkTransport;

  constructor(address: string, options: ClientTransportOptions = {}) {
    super();
    this.#inner = clientTransport(address, options);
    this.hear(this.#inner, () => this.onclose?.());
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  send(message: SdkMessage, options?: SdkSendOptions): Promise<void> {
    return this.#inner.send(message, options);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

export interface GrpcServerTransportOptions extends ServeOptions, Pick<SdkServiceOptions, "authInfo"> {}

/**
 * Serves a `McpServer` or `Server` of the SDK, v1 or v2, over gRPC: `await server.connect(new
 * GrpcServerTransport("grpc://127.0.0.1:50051"))`. Like every transport of the SDK it is one session, so one client at a time. Use
 * `serveSdk` with a factory to serve many.
 */
export class GrpcServerTransport extends Passed {
  readonly #address: string;
  readonly #options: GrpcServerTransportOptions;
  #listener: Listener | undefined;
  /** The transport to the current client. */
  #inner: SdkTransport | undefined;

  constructor(address: string, options: GrpcServerTransportOptions = {}) {
    super();
    this.#address = address;
    this.#options = options;
  }

  /** The address, with the port that was chosen; undefined before start(). */
  get address(): string | undefined {
    return this.#listener?.address;
  }

  async start(): Promise<void> {
    if (this.#listener !== undefined) throw new Fault("invalid-request", "the transport has been started already");
    const { onFault, limits, authInfo } = this.#options;
    const service = sdkService(
      {
        connect: async (inner) => {
          this.#inner = inner;
          this.hear(inner, () => {
            if (this.#inner === inner) this.#inner = undefined;
          });
          await inner.start();
        },
        close: async () => void (await this.#inner?.close()),
      },
      { onFault: onFault ?? ((fault) => this.onerror?.(fault)), limits, authInfo },
    );
    this.#listener = await serve(service, this.#address, this.#options);
    void this.#listener.closed.then(async () => {
      await service.close();
      this.onclose?.();
    });
  }

  send(message: SdkMessage, options?: SdkSendOptions): Promise<void> {
    if (this.#inner === undefined)
      return Promise.reject(new Fault("unavailable", "no client is connected", { data: { reason: "closed" } }));
    return this.#inner.send(message, options);
  }

  async close(): Promise<void> {
    await this.#listener?.close();
  }
}
