import { Fault } from "../../core/index.js";
import { isLoopback } from "../../io/index.js";
import type { RegistryTls } from "./registry-tls.js";

/** `module`: buf.registry.module.v1. `alpha`: buf.alpha.registry.v1alpha1. `reflect`: buf.reflect.v1beta1, which returns no comments. */
export type RegistryApiName = "module" | "alpha" | "reflect";

/** How to access a registry. */
export interface RegistryOptions extends RegistryTls {
  /** The URL, if it is not the registry's own host over HTTPS: a mirror, or a local registry. */
  readonly url?: string | undefined;
  /** The token to send; from `BUF_TOKEN` or `.netrc` unless given. */
  readonly token?: string | undefined;
  /** The API to use; unless given, the first one that the registry has. */
  readonly api?: RegistryApiName | undefined;
  /** Allows access without TLS to a registry on another machine. */
  readonly insecure?: boolean | undefined;
}

/** The URL of a registry. Throws a Fault `invalid-params` if it is not a URL, or if it would send the token unencrypted. */
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
