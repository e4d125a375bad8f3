import { isIP } from "node:net";
import { createSecureContext, type SecureContextOptions, type TlsOptions } from "node:tls";
import { Fault } from "../core/index.js";
import { codeOf } from "../stream/index.js";

/** Certificates or keys in PEM: text, or the bytes of a file. */
export type Pem = string | Uint8Array;

/** The certificate of a listener, and what it asks of clients. */
export interface TlsListenOptions {
  readonly key: Pem;
  /** The certificate, followed by the intermediate certificates. */
  readonly cert: Pem;
  /** The CAs of client certificates; the system's roots unless given. */
  readonly ca?: Pem | readonly Pem[] | undefined;
  /** Accepts only clients that show a certificate signed by `ca`. */
  readonly requestClientCert?: boolean | undefined;
}

/** How a client checks the server, and the certificate it shows. */
export interface TlsDialOptions {
  /** The CAs of server certificates, in place of the system's roots. */
  readonly ca?: Pem | readonly Pem[] | undefined;
  readonly cert?: Pem | undefined;
  readonly key?: Pem | undefined;
  /** The name that the server's certificate must be valid for; the host of the address unless given. */
  readonly servername?: string | undefined;
}

/** How a network listener protects itself against eavesdroppers and strangers. */
export interface SecureListenOptions {
  readonly tls?: TlsListenOptions | undefined;
  /** Lets other machines connect without TLS or without credentials: for a listener behind a proxy that provides both. */
  readonly insecure?: boolean | undefined;
}

/** The options for Node's TLS servers: TLS 1.3 or newer. Throws a Fault `invalid-params` if the key and the certificate cannot be used. */
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

/** The options for Node's TLS clients, without the host. Throws a Fault `invalid-params` if they cannot be used. */
export function secureContext(given?: TlsDialOptions): SecureContextOptions & { servername?: string } {
  // Checking Node's defaults would make every dial read all root certificates.
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
  // Node's error does not say which of them it cannot read.
  if (given.key !== undefined && !bytes(given.key).includes("PRIVATE KEY-----")) throw unusable("key", NO_KEY);
  if (given.cert !== undefined && !bytes(given.cert).includes("CERTIFICATE-----")) throw unusable("certificate", NO_CERTIFICATE);
  // Node ignores a CA that it cannot read. The listener would let in nobody, or the client would trust no server.
  for (const ca of (context.ca ?? []) as readonly (string | Buffer)[])
    if (!ca.includes("CERTIFICATE-----")) throw unusable("CA", NO_CERTIFICATE);
  return context;
}

function bytes(pem: Pem): string | Buffer {
  return typeof pem === "string" ? pem : Buffer.from(pem.buffer, pem.byteOffset, pem.byteLength);
}

/** Checks the options now, not with the first connection. Node's error may quote the key, so it is not passed on. */
function check(options: SecureContextOptions): void {
  try {
    createSecureContext(options);
  } catch (error) {
    throw unusable("key and certificate", codeOf(error) ?? "failed");
  }
}

const NO_KEY = "no-private-key";
const NO_CERTIFICATE = "no-certificate-in-pem";
const ENCRYPTED = "the key is encrypted; give one without a passphrase";
const words: Readonly<Record<string, string>> = {
  [NO_KEY]: "there is no private key in PEM in it",
  [NO_CERTIFICATE]: "there is no certificate in PEM in it",
  ERR_MISSING_PASSPHRASE: ENCRYPTED,
  ERR_OSSL_BAD_DECRYPT: ENCRYPTED,
  ERR_OSSL_X509_KEY_VALUES_MISMATCH: "the key belongs to another certificate",
};

function unusable(what: string, reason: string): Fault {
  return new Fault("invalid-params", `the TLS ${what} cannot be used: ${words[reason] ?? reason}`, { data: { reason } });
}

/** Whether only this machine can reach a listener on that host. */
export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  return host === "localhost" || host === "::1" || host === "::ffff:127.0.0.1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** The fault of a listener that has no certificate. */
export function noCertificate(scheme: string): Fault {
  return new Fault("invalid-params", `listening on ${scheme}:// needs a certificate: give tls: { key, cert }`, {
    data: { reason: "no-certificate" },
  });
}

/**
 * Throws a Fault `invalid-params` if a listener would let others in the network read along, or call without credentials. `auth`: the check
 * of credentials, if there is one.
 */
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
