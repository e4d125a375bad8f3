import type { Address } from "../../api/index.js";
import { wireFor } from "../../api/index.js";
import type { UpstreamDialOptions } from "../../bridge/index.js";
import { redactText } from "../../core/index.js";
import type { OAuthOptions } from "../../oauth/index.js";
import type { Input, Options, Target } from "../args/input.js";
import { addressOf } from "../session/command.js";
import { handshakeTimes } from "../session/handshake-times.js";
import { headersOf } from "../session/headers.js";
import { misuse } from "../session/mistake.js";
import { dialTls } from "../session/pem.js";

/** The server that the command line names, in one of two ways. */
export function upstreamTarget({ target, options }: Input): Target {
  const to = options.has("demo") ? demoTarget() : options.text("to");
  if (to !== undefined && target !== undefined)
    throw misuse("--to, --demo and what stands at the end each name a server; give one of them");
  const found = to ?? target;
  if (found === undefined)
    throw misuse("what to put on the wires is missing: end with a URL, or with -- and the command that starts the server");
  return found;
}

/** This same command, as a server on stdin and stdout. */
function demoTarget(): Target {
  return { command: process.execPath, args: [process.argv[1] ?? "anywire", "demo"] };
}

export async function upstreamAddress(target: Target, options: Options): Promise<Address> {
  const address = addressOf(target, options);
  await wireFor(address).catch((error: Error) => {
    throw misuse(`${error.message}; a command to start goes after --`);
  });
  if (typeof address !== "string") return address;
  if (/^([a-z]+\+)?stdio:/.test(address)) throw misuse(`${address} is for listening; to start a server give -- and its command`);
  if (/^[a-z0-9+]+:\/\//i.test(address) && !URL.canParse(address)) throw misuse(`not a URL: ${redactText(address)}`);
  return address;
}

export function dialOptions(target: Target, options: Options): UpstreamDialOptions {
  const max = options.number("max-body");
  return {
    headers: headersOf(target, options),
    tls: dialTls(options),
    era: options.oneOf("era", ["auto", "legacy", "modern"]),
    dialect: options.oneOf("dialect", ["auto", "mcp.v1", "tunnel"]),
    calls: options.oneOf("calls", ["session", "rpc"]),
    http2: options.oneOf("http2", ["own", "node"]),
    ...handshakeTimes(options.number("connect-timeout")),
    ...(max === undefined ? undefined : { limits: { messageBytes: max } }),
  };
}

/** How to sign in if the server asks for it. */
export function signInOptions(options: Options): { readonly oauth: OAuthOptions; readonly callbackUrl: string | undefined } {
  const [id, variable] = [options.text("client-id"), options.text("client-secret-env")];
  const secret = variable === undefined ? undefined : process.env[variable];
  if (variable !== undefined && (secret === undefined || secret === ""))
    throw misuse("--client-secret-env: no variable of that name is set");
  if (variable !== undefined && id === undefined) throw misuse("--client-secret-env needs --client-id");
  const asItself = options.has("client-credentials");
  if (asItself && (id === undefined || secret === undefined))
    throw misuse("--client-credentials needs --client-id and --client-secret-env");
  const scopes = options.texts("scope");
  return {
    callbackUrl: callbackUrl(options),
    oauth: {
      ...(asItself && id !== undefined && secret !== undefined ? { credentials: { id, secret } } : undefined),
      ...(!asItself && id !== undefined ? { client: { id, secret } } : undefined),
      ...(scopes.length === 0 ? undefined : { scopes }),
      clientMetadataUrl: options.text("client-metadata-url"),
    },
  };
}

/** Where the browser comes back to after a person has signed in. */
function callbackUrl(options: Options): string | undefined {
  const [port, text] = [options.number("callback-port"), options.text("callback-url")];
  if (port !== undefined && text !== undefined) throw misuse("--callback-port and --callback-url exclude each other");
  if (port !== undefined && (port === 0 || port > 65_535)) throw misuse(`--callback-port takes a port from 1 to 65535, not ${port}`);
  if (text !== undefined && !/^http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/]/.test(text))
    throw misuse(`--callback-url takes an http URL of this machine, such as http://localhost:9696/callback, not ${JSON.stringify(text)}`);
  return text ?? (port === undefined ? undefined : `http://127.0.0.1:${port}/callback`);
}
