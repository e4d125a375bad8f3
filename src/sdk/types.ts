import type { Era } from "../core/index.js";

/**
 * The official SDK's types, as far as they are used here, in a shape that fits v1 and both packages of v2. So these declarations depend on
 * none of them.
 */
export interface SdkMessage {
  readonly jsonrpc: "2.0";
}

export interface SdkSendOptions {
  /** The request during whose handling the message was sent. */
  readonly relatedRequestId?: string | number | undefined;
}

/** The caller, as the SDK's handlers see it: `extra.authInfo` in v1, `ctx.http.authInfo` in v2. */
export interface SdkAuthInfo {
  token: string;
  clientId: string;
  scopes: string[];
  expiresAt?: number;
  resource?: URL;
  extra?: Record<string, unknown>;
}

export interface SdkExtra {
  readonly authInfo?: SdkAuthInfo | undefined;
}

/** What `client.connect()` and `server.connect()` of the SDK take. */
export interface SdkTransport {
  start(): Promise<void>;
  /** Resolves when there is room for the next message. */
  send(message: SdkMessage, options?: SdkSendOptions): Promise<void>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: SdkMessage, extra?: SdkExtra) => void) | undefined;
}

/** A `McpServer` or `Server` of the SDK, v1 or v2. */
export interface SdkServer {
  connect(transport: SdkTransport): Promise<void>;
  close(): Promise<void>;
}

/** What a factory is told about the server that is needed. */
export interface SdkServerContext {
  readonly era: Era;
  readonly authInfo?: SdkAuthInfo;
}

/** Makes a server for one connection, as `serveStdio` and `createMcpHandler` of the SDK take it. */
export type SdkServerFactory = (context: SdkServerContext) => SdkServer | Promise<SdkServer>;
