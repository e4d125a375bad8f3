import { isIP } from "node:net";
import { createSecureContext, type SecureContextOptions, type TlsOptions } from "node:tls";
import { Fault } from "../core/index.js";
import { codeOf } from "../stream/index.js";

/** Certificates or keys in PEM: text, or the bytes of a file. */
export type Pem = string | Uint8Array;

/** The certificate that a listener shows, and what it wants to see. */
export interface TlsListenOptions {
  readonly key: Pem;
  /** The certificate, followed by those between it and its root. */
  readonly cert: Pem;
  /** Who signs the certificates of clients; the system's roots unless given. */
  readonly ca?: Pem | readonly Pem[] | undefined;
  /** Lets in only clients that show a certificate of `ca`. */
  readonly requestClientCert?: boolean | undefined;
}

/** How whoever dials checks the server, and what it shows of itself. */
export interface TlsDialOptions {
  /** Who signs the certificates of servers, in place of the system's roots. */
  readonly ca?: Pem | readonly Pem[] | undefined;
  readonly cert?: Pem | undefined;
  readonly key?: Pem | undefined;
  /** The name that the server's certificate has to be for; the host of the address unless given. */
  readonly servername?: string | undefined;
}

/** What a network listener does about eavesdroppers and strangers. */
export interface SecureListenOptions {
  readonly tls?: TlsListenOptions | undefined;
  /** Lets other machines connect without TLS, or without credentials: for a listener behind a proxy that has both. */
  readonly insecure?: boolean | undefined;
}

/** The options of Node's TLS servers: 1.3 or newer. Throws a Fault `invalid-params` if the key and the certificate are of no use. */
export function serverTls({ key, cert, ca, requestClientCert = false }: TlsListenOptions): TlsOptions {
  const options: TlsOptions = {
    ...contextOf({ key, cert, ca }),
    minVersion: "TLSv1.3",
    requestCert: requestClientCert,
    rejectUnauthorized: requestClientCert,
  };
  check(options);
  return options;
}

/** What Node's TLS clients take, but for the host. Throws a Fault `invalid-params` if what is given is of no use. */
export function secureContext(given?: TlsDialOptions): SecureContextOptions & { servername?: string } {
  // Looking at what is no different from Node's own would cost every dial the reading of all its roots.
  if (given === undefined) return {};
  const { ca, cert, key, servername } = given;
  const options = contextOf({ key, cert, ca });
  check(options);
  return servername === undefined ? options : { ...options, servername };
}

function contextOf(given: {
  readonly key?: Pem | undefined;
  readonly cert?: Pem | undefined;
  readonly ca?: Pem | readonly Pem[] | undefined;
}): SecureContextOptions {
  const context: SecureContextOptions = {};
  if (given.key !== undefined) context.key = bytes(given.key);
  if (given.cert !== undefined) context.cert = bytes(given.cert);
  if (given.ca !== undefined) context.ca = (Array.isArray(given.ca) ? given.ca : [given.ca]).map(bytes);
  return context;
}

function bytes(pem: Pem): string | Buffer {
  return typeof pem === "string" ? pem : Buffer.from(pem.buffer, pem.byteOffset, pem.byteLength);
}

/** Now, and not with the first connection. What Node says of it may quote the key, so it is not passed on. */
function check(options: SecureContextOptions): void {
  try {
    createSecureContext(options);
  } catch (error) {
    const reason = codeOf(error) ?? "failed";
    throw new Fault("invalid-params", `the TLS key and certificate cannot be used: ${reason}`, { data: { reason } });
  }
}

/** Whether only this machine can reach what listens there. */
export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  return host === "localhost" || host === "::1" || host === "::ffff:127.0.0.1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** The fault of a listener that has no certificate to show. */
export function noCertificate(scheme: string): Fault {
  return new Fault("invalid-params", `listening on ${scheme}:// needs a certificate: give tls: { key, cert }`, {
    data: { reason: "no-certificate" },
  });
}

/** Throws a Fault `invalid-params` where a listener would let a network read along, or everybody in it call. `auth`: what checks credentials. */
export function checkListen(hostname: string, { tls, insecure, auth }: SecureListenOptions & { readonly auth?: unknown }): void {
  if (insecure === true || isLoopback(hostname)) return;
  if (tls === undefined)
    throw refused(
      `listening on ${hostname} without TLS lets the network read along: give tls, or insecure if a proxy in front does it`,
      "insecure",
    );
  if (auth === undefined && tls.requestClientCert !== true)
    throw refused(
      `listening on ${hostname} without authentication lets everyone call: pass auth or tls.requestClientCert, or insecure if you want that`,
      "anonymous",
    );
}

function refused(message: string, reason: string): Fault {
  return new Fault("invalid-params", message, { data: { reason } });
}
