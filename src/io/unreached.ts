import { Fault, redactText } from "../core/index.js";
import { codeOf } from "../stream/index.js";

const untrusted = "its certificate is not signed by a trusted CA (ca adds one)";

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "the host is not known",
  ECONNRESET: "the connection was cut",
  ETIMEDOUT: "no answer",
  EHOSTUNREACH: "no way leads to the host",
  ENETUNREACH: "no way leads to its network",
  ENOENT: "there is no such socket",
  EACCES: "permission denied",
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  CERT_HAS_EXPIRED: "its certificate has expired",
};

/** What a server says when it ends a TLS handshake, by the end of OpenSSL's words for it. */
const alerts: readonly (readonly [reason: RegExp, words: string])[] = [
  [/alert certificate required$/, "the server requires a client certificate (cert and key give one)"],
  [
    /alert (unknown ca|bad certificate|unsupported certificate|certificate \w+|access denied)$/,
    "the server does not accept the client certificate (cert and key give one)",
  ],
  // Before TLS 1.3 this is also the answer to a client without a certificate.
  [/alert handshake failure$/, "the server ended the TLS handshake; it may require a client certificate (cert and key give one)"],
];

/** What OpenSSL says about a handshake that failed, if it did. Its whole message names its source files. */
export function tlsReason(error: Error | null | undefined): string | undefined {
  return /:SSL routines:[^:]*:([^:]+):/.exec(error?.message ?? "")?.[1];
}

/** Why TLS with a server failed, if it did. */
export function whyTlsFailed(error: Error | null | undefined): string | undefined {
  const reason = tlsReason(error);
  if (reason === undefined) return undefined;
  return alerts.find(([known]) => known.test(reason))?.[1] ?? `TLS failed: ${reason}`;
}

/** Why a server could not be reached, in plain words where possible. */
export function whyUnreached(error: Error): string {
  // OpenSSL's message for an answer that is not TLS names one of its source files.
  if (error.message.includes("wrong version number")) return "the server does not speak TLS";
  const code = codeOf(error) ?? "";
  // The parser of node:http reports what it expected in its own terms.
  if (code.startsWith("HPE_")) return "the server does not speak HTTP";
  return reasons[code] ?? whyTlsFailed(error) ?? error.message;
}

/** The fault of an address that cannot be read. It is the caller's mistake: no server was asked. Credentials in it are removed. */
export function badAddress(message: string, cause?: unknown): Fault {
  return new Fault("invalid-params", redactText(message), { data: { reason: "address" }, cause });
}
