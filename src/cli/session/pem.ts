import { readFileSync, statSync } from "node:fs";
import type { ConnectOptions, ServeOptions } from "../../api/index.js";
import { codeOf } from "../../stream/index.js";
import type { Options } from "../args/input.js";
import { misuse } from "./mistake.js";

/** The TLS options for the server: how to check it, and what to show it. */
export function dialTls(options: Options): ConnectOptions["tls"] {
  const [ca, cert, key] = [fileOf(options, "ca"), fileOf(options, "cert"), fileOf(options, "key")];
  if ((cert === undefined) !== (key === undefined)) throw misuse("--cert and --key belong together");
  return ca === undefined && cert === undefined ? undefined : { ca, cert, key };
}

/** The TLS options of a listener. */
export function listenTls(options: Options): ServeOptions["tls"] {
  const [ca, cert, key] = [fileOf(options, "tls-ca"), fileOf(options, "tls-cert"), fileOf(options, "tls-key")];
  if (cert === undefined && key === undefined && ca === undefined) return undefined;
  if (cert === undefined || key === undefined)
    throw misuse(cert === key ? "--tls-ca needs --tls-cert and --tls-key" : "--tls-cert and --tls-key belong together");
  return { cert, key, ...(ca === undefined ? undefined : { ca, requestClientCert: true }) };
}

/** The least number of bytes of a secret, so that it cannot be guessed. */
const SECRET_BYTES = 32;

/** The secret in the file that an option names. */
export function secretOf(options: Options, name: string, warn: (text: string) => void): Uint8Array | undefined {
  const secret = fileOf(options, name);
  if (secret !== undefined && secret.length < SECRET_BYTES)
    throw misuse(
      `--${name}: the file has ${secret.length} bytes and needs at least ${SECRET_BYTES}; make one with openssl rand -base64 48`,
    );
  const file = options.text(name);
  // An orchestrator may give secrets to a group, but access for everybody is never intended.
  if (file !== undefined && process.platform !== "win32" && (statSync(file).mode & 0o007) !== 0)
    warn(`--${name} ${file}: every user of this machine may read or change this secret; use chmod 600`);
  return secret;
}

/** The content of the file that an option names. */
function fileOf(options: Options, name: string): Uint8Array | undefined {
  const file = options.text(name);
  if (file === undefined) return undefined;
  try {
    return readFileSync(file);
  } catch (error) {
    throw misuse(`--${name} ${file}: ${codeOf(error) === "ENOENT" ? "no such file" : "cannot be read"}`);
  }
}
