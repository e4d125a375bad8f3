import { readFileSync } from "node:fs";
import type { ConnectOptions, ServeOptions } from "../../api/index.js";
import type { Options } from "../args/input.js";
import { misuse } from "./mistake.js";

/** How the options have the server checked, and what they show it. */
export function dialTls(options: Options): ConnectOptions["tls"] {
  const [ca, cert, key] = [pem(options, "ca"), pem(options, "cert"), pem(options, "key")];
  if ((cert === undefined) !== (key === undefined)) throw misuse("--cert and --key belong together");
  return ca === undefined && cert === undefined ? undefined : { ca, cert, key };
}

/** The certificate that the options have a listener show. */
export function listenTls(options: Options): ServeOptions["tls"] {
  const [ca, cert, key] = [pem(options, "tls-ca"), pem(options, "tls-cert"), pem(options, "tls-key")];
  if (cert === undefined && key === undefined && ca === undefined) return undefined;
  if (cert === undefined || key === undefined) throw misuse("--tls-cert and --tls-key belong together");
  return { cert, key, ...(ca === undefined ? undefined : { ca, requestClientCert: true }) };
}

function pem(options: Options, name: string): Uint8Array | undefined {
  const file = options.text(name);
  if (file === undefined) return undefined;
  try {
    return readFileSync(file);
  } catch (error) {
    throw misuse(`--${name} ${file}: ${(error as NodeJS.ErrnoException).code === "ENOENT" ? "no such file" : "cannot be read"}`);
  }
}
