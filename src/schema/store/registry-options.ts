import { Fault } from "../../core/index.js";
import { isLoopback } from "../../io/index.js";
import type { RegistryTls } from "./registry-tls.js";

/** `module`: buf.registry.module.v1. `alpha`: buf.alpha.registry.v1alpha1. `reflect`: buf.reflect.v1beta1, which gives no comments. */
export type RegistryApiName = "module" | "alpha" | "reflect";

/** How to ask a registry. */
export interface RegistryOptions extends RegistryTls {
  /** Where it is, if not at its own host by HTTPS: a mirror, or a registry on this machine. */
  readonly url?: string | undefined;
  /** The token to send; from `BUF_TOKEN` or `.netrc` unless given. */
  readonly token?: string | undefined;
  /** The API to use; the first one that the registry has unless given. */
  readonly api?: RegistryApiName | undefined;
  /** Asks it without TLS though it is on another machine. */
  readonly insecure?: boolean | undefined;
}

/** Where a registry is. Throws a Fault `invalid-params` for what is no URL, and for one that would send the token in the open. */
export function registryUrl(registry: string, { url, insecure }: RegistryOptions): URL {
  const text = url ?? `https://${registry}`;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new Fault("invalid-params", `the URL of the registry ${registry} has to be one of http or https`);
  const parsed = new URL(text);
  if (parsed.protocol === "http:" && insecure !== true && !isLoopback(parsed.hostname))
    throw new Fault(
      "invalid-params",
      `the registry ${registry} is on another machine, and would be asked without TLS: use https, or set insecure`,
    );
  return parsed;
}
