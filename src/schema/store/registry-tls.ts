import { createHash, X509Certificate } from "node:crypto";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { type Pem, secureContext } from "../../io/index.js";

/** How Node's HTTPS client checks the certificate of a registry. */
export interface RegistryTls {
  /** The CA of its certificate, in place of the system's roots. */
  readonly ca?: Pem | readonly Pem[] | undefined;
  /** The keys that its trusted certificate may have: `sha256/` and the base64 of the hash of the public key (SPKI). */
  readonly pins?: readonly string[] | undefined;
}

/** Thrown for a certificate whose key is not pinned. */
export class UnpinnedKey extends Error {}

/** Options for a TLS client: 1.3 or newer, and only pinned keys if there are any. Nothing is sent to a server that fails the check. */
export function registryTls({ ca, pins }: RegistryTls): object {
  const context = { ...secureContext(ca === undefined ? undefined : { ca }), minVersion: "TLSv1.3" as const };
  if (pins === undefined) return context;
  const known = new Set(pins.map((pin) => pin.replace(/^sha256\//, "")));
  return {
    ...context,
    checkServerIdentity(host: string, certificate: PeerCertificate): Error | undefined {
      const problem = checkServerIdentity(host, certificate);
      if (problem !== undefined) return problem;
      const pin = keyPin(certificate.raw);
      return known.has(pin) ? undefined : new UnpinnedKey(`the key of its certificate is sha256/${pin}, and none of the pinned ones`);
    },
  };
}

/** The base64 of the SHA-256 of the public key of a certificate. */
export function keyPin(certificate: Uint8Array | string): string {
  const key = new X509Certificate(certificate).publicKey.export({ type: "spki", format: "der" });
  return createHash("sha256").update(key).digest("base64");
}
