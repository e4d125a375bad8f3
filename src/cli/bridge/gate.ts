import { createHash, timingSafeEqual } from "node:crypto";
import type { ServeOptions } from "../../api/index.js";
import { apiKeys, checkTrustedProxy } from "../../bridge/index.js";
import { toFault } from "../../core/index.js";
import { codeOf } from "../../stream/index.js";
import type { Options } from "../args/input.js";
import { misuse } from "../session/mistake.js";
import { listenTls } from "../session/pem.js";

const loopback = ["localhost", "127.0.0.1", "[::1]"];
const hostForm = /^(?:\*|(?:\*\.)?[a-z0-9._-]+|\[[0-9a-f:.]+\])$/i;
const originForm = /^(?:\*|(?:[a-z][a-z0-9+.-]*:\/\/)?(?:(?:\*\.)?[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?)$/i;

/** The options for who is let in, by host, page, certificate and key. `warn` is called if the keys cannot be read later. */
export async function gateOptions(options: Options, warn: (text: string) => void): Promise<ServeOptions> {
  const publicUrl = publicUrlOf(options);
  const hosts = [
    ...ofForm(options, "allow-host", hostForm, "a name without a scheme or a port, such as mcp.example.com"),
    ...(publicUrl === undefined ? [] : [publicUrl.hostname]),
  ];
  const origins = ofForm(options, "allow-origin", originForm, "an origin without a path, such as https://app.example.com");
  const trustedProxy = trustedProxyOf(options);
  return {
    trustedProxy,
    tls: listenTls(options),
    insecure: options.has("insecure"),
    // If a proxy names the user, nobody else is let in.
    auth: (await authOf(options, warn)) ?? (trustedProxy?.userHeader === undefined ? undefined : { verify: () => undefined }),
    ...(hosts.length === 0 ? undefined : { allowedHosts: [...loopback, ...hosts] }),
    ...(origins.length === 0 ? undefined : { allowedOrigins: origins }),
  };
}

/** The values of an option. A value that no request could match would refuse every client without a word. */
function ofForm(options: Options, name: string, form: RegExp, wanted: string): readonly string[] {
  const values = options.texts(name);
  const odd = values.find((value) => !form.test(value));
  if (odd !== undefined) throw misuse(`--${name} takes ${wanted}, not ${JSON.stringify(odd)}`);
  return values;
}

/** The URL at which clients reach the bridge through a proxy. */
export function publicUrlOf(options: Options): URL | undefined {
  const text = options.text("public-url");
  if (text === undefined || text === "") return undefined;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw misuse(`--public-url takes an http or https URL, not ${JSON.stringify(text)}`);
  return new URL(text);
}

function trustedProxyOf(options: Options): ServeOptions["trustedProxy"] {
  const [addresses, userHeader] = [options.texts("trusted-proxy"), options.text("trusted-user")?.toLowerCase()];
  if (addresses.length === 0 && userHeader !== undefined)
    throw misuse("--trusted-user needs --trusted-proxy: whose word on the user counts?");
  if (addresses.length === 0) return undefined;
  const trusted = { addresses, userHeader };
  try {
    checkTrustedProxy(trusted);
  } catch (error) {
    throw misuse(`--trusted-proxy: ${toFault(error).message}`);
  }
  return trusted;
}

async function authOf(options: Options, warn: (text: string) => void): Promise<ServeOptions["auth"]> {
  const [file, variable] = [options.text("api-keys"), options.text("api-key-env")];
  if (file !== undefined && variable !== undefined) throw misuse("--api-keys and --api-key-env exclude each other");
  if (variable !== undefined) return oneKey(variable);
  if (file === undefined) return undefined;
  try {
    return await apiKeys(file, { onFault: (fault) => warn(fault.message) });
  } catch (error) {
    throw misuse(`--api-keys ${file}: ${codeOf(error) === "ENOENT" ? "no such file" : "cannot be read"}`);
  }
}

/** Lets in clients with the key in an environment variable. */
export function oneKey(variable: string): ServeOptions["auth"] {
  const key = process.env[variable];
  if (key === undefined || key === "")
    throw misuse(`--api-key-env: no variable of that name is set; it takes the name of one, not the key`);
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  const known = digest(key);
  return { verify: (token) => (timingSafeEqual(known, digest(token)) ? { id: "api-key" } : undefined), tokenHeader: "x-api-key" };
}
