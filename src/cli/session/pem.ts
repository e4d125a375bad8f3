import { readFileSync, statSync } from "node:fs";
import type { ConnectOptions, ServeOptions } from "../../api/index.js";
import { codeOf } from "../../stream/index.js";
import type { Options } from "../args/input.js";
import { misuse } from "./mistake.js";

/** How the options have the server checked, and what they show it. */
export function dialTls(options: Options): ConnectOptions["tls"] {
  const [ca, cert, key] = [fileOf(options, "ca"), fileOf(options, "cert"), fileOf(options, "key")];
  if ((cert === undefined) !== (key === undefined)) throw misuse("--cert and --key belong together");
  return ca === undefined && cert === undefined ? undefined : { ca, cert, key };
}

/** The certificate that the options have a listener show. */
export function listenTls(options: Options): ServeOptions["tls"] {
  const [ca, cert, key] = [fileOf(options, "tls-ca"), fileOf(options, "tls-cert"), fileOf(options, "tls-key")];
  if (cert === undefined && key === undefined && ca === undefined) return undefined;
  if (cert === undefined || key === undefined) throw misuse("--tls-cert and --tls-key belong together");
  return { cert, key, ...(ca === undefined ? undefined : { ca, requestClientCert: true }) };
}

/** Bytes that a secret needs so that nobody can guess it. */
const SECRET_BYTES = 32;

/** The secret in the file that an option names. */
export function secretOf(options: Options, name: string, warn: (text: string) => void): Uint8Array | undefined {
  const secret = fileOf(options, name);
  if (secret !== undefined && secret.length < SECRET_BYTES)
    throw misuse(
      `--${name}: the file has ${secret.length} bytes and needs at least ${SECRET_BYTES}; make one with openssl rand -base64 48`,
    );
  const file = options.text(name);
  // A group may be what an orchestrator gives secrets to; everybody is nobody's intention.
  if (file !== undefined && process.platform !== "win32" && (statSync(file).mode & 0o007) !== 0)
    warn(`--${name} ${file}: every user of this machine may read or change this secret; use chmod 600`);
  return secret;
}

/** What the file that an option names contains. */
function fileOf(options: Options, name: string): Uint8Array | undefined {
  const file = options.text(name);
  if (file === undefined) return undefined;
  try {
    return readFileSync(file);
  } catch (error) {
    throw misuse(`--${name} ${file}: ${codeOf(error) === "ENOENT" ? "no such file" : "cannot be read"}`);
  }
}
