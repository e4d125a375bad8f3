import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { type CallOptions, Code, ConnectError } from "@connectrpc/connect";
import { Fault, redactText } from "../../core/index.js";
import { limitOf } from "../descriptor-weight.js";
import { type CanonicalSet, canonicalSet } from "./canonical.js";
import { type Environment, registryToken } from "./credentials.js";
import { type UnresolvedReason, unresolved } from "./fault.js";
import { cancelled } from "./flights.js";
import { isCommit, type ModuleName, moduleText } from "./reference.js";
import { type RegistryApi, registryApis } from "./registry-apis.js";
import { type RegistryApiName, type RegistryOptions, registryUrl } from "./registry-options.js";
import { registryTls, UnpinnedKey } from "./registry-tls.js";
import { registryTransport } from "./registry-transport.js";

/** A client of an allowed registry. */
export interface RegistryClient {
  /** The descriptors of a label or a commit, checked to belong to that commit. */
  set(module: ModuleName, version: string, signal: AbortSignal): Promise<{ readonly commit: string } & CanonicalSet>;
  /** The commit of a label; undefined if the registry cannot return it without the descriptors. */
  commit(module: ModuleName, version: string, signal: AbortSignal): Promise<string | undefined>;
  close(): void;
}

interface ClientOptions extends RegistryOptions {
  readonly timeoutMs: number;
  readonly env: Environment;
}

/** Characters of a registry's message that go into an error. */
const SAID = 300;

export function registryClient(registry: string, options: ClientOptions): RegistryClient {
  const url = registryUrl(registry, options);
  const secure = url.protocol === "https:";
  const agent = secure
    ? new HttpsAgent({ keepAlive: true, maxSockets: 8, maxCachedSessions: 0 })
    : new HttpAgent({ keepAlive: true, maxSockets: 8 });
  const transport = registryTransport(url.href.replace(/\/$/, ""), secure ? { agent, ...registryTls(options) } : { agent });
  const names = options.api === undefined ? (Object.keys(registryApis) as RegistryApiName[]) : [options.api];
  const apis = names.map((name) => registryApis[name](transport));
  let token: Promise<string | undefined> | undefined;
  const ask = async <T>(module: ModuleName, signal: AbortSignal, work: (api: RegistryApi, call: CallOptions) => Promise<T>): Promise<T> => {
    token ??= options.token === undefined ? registryToken(registry, options.env) : Promise.resolve(options.token);
    const secret = await token;
    // An invalid header value would be quoted in the error.
    if (secret !== undefined && !/^[\x21-\x7e]+$/.test(secret))
      throw unresolved("unauthenticated", `the token for ${registry} has a character that no token has, such as a space`);
    const call = {
      signal,
      timeoutMs: options.timeoutMs,
      ...(secret === undefined ? undefined : { headers: { authorization: `Bearer ${secret}` } }),
    };
    for (;;) {
      const [api] = apis;
      try {
        if (api === undefined) throw unresolved("bad-answer", `${registry} has no API for descriptors`);
        return await work(api, call);
      } catch (error) {
        // If a registry lacks an API, it is not tried again.
        if (apis.length > 1 && error instanceof ConnectError && error.code === Code.Unimplemented) {
          if (apis[0] === api) apis.shift();
          continue;
        }
        throw faultOf(error, module, { signal, secret, timeoutMs: options.timeoutMs });
      }
    }
  };
  return {
    set: (module, version, signal) =>
      ask(module, signal, async (api, call) => {
        const fetched = await api.set(module, version, call);
        const commit = commitOf(fetched.commit, module, version);
        if (fetched.set === undefined) throw unresolved("bad-answer", `${registry} gave no descriptors of ${moduleText(module)}`);
        return { commit, ...canonicalSet(fetched.set) };
      }),
    commit: (module, version, signal) =>
      ask(module, signal, async (api, call) => {
        const said = await api.commit?.(module, version, call);
        return said === undefined ? undefined : commitOf(said, module, version);
      }),
    close: () => agent.destroy(),
  };
}

/** The commit that a registry names, if it is valid, and the one that was asked for. */
function commitOf(said: string, module: ModuleName, version: string): string {
  const commit = said.replaceAll("-", "").toLowerCase();
  if (!isCommit(commit)) throw unresolved("bad-answer", `${module.registry} names no commit of ${moduleText(module)}`);
  if (isCommit(version) && commit !== version)
    throw unresolved(
      "wrong-commit",
      `${module.registry} was asked for the commit ${version} of ${moduleText(module)}, and answered with ${commit}`,
    );
  return commit;
}

const reasons: Partial<Record<Code, UnresolvedReason>> = {
  [Code.NotFound]: "not-found",
  [Code.Unauthenticated]: "unauthenticated",
  [Code.PermissionDenied]: "denied",
  [Code.DeadlineExceeded]: "timeout",
  [Code.Unavailable]: "unreachable",
  [Code.Aborted]: "unreachable",
  [Code.ResourceExhausted]: "too-large",
};

interface Asked {
  readonly signal: AbortSignal;
  readonly secret: string | undefined;
  readonly timeoutMs: number;
}

function faultOf(error: unknown, module: ModuleName, { signal, secret, timeoutMs }: Asked): Fault {
  if (error instanceof Fault) return error;
  if (signal.aborted) return cancelled();
  const failed = ConnectError.from(error);
  const said = shown(failed.rawMessage, secret);
  const { registry } = module;
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof UnpinnedKey) return unresolved("pin", `${registry} is not trusted: ${cause.message}`);
    const code = (cause as NodeJS.ErrnoException).code;
    if (typeof code === "string" && /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code))
      return unresolved("certificate", `the certificate of ${registry} is not trusted, or it does not speak TLS 1.3: ${code}`);
  }
  const reason = reasons[failed.code] ?? "bad-answer";
  const words: Partial<Record<UnresolvedReason, string>> = {
    "not-found": `${registry} has no ${moduleText(module)} of this version, or does not show it: ${said}`,
    unauthenticated: `${registry} wants a token: set BUF_TOKEN, or put it into .netrc`,
    denied: `${registry} does not let this token see ${moduleText(module)}`,
    timeout: `${registry} did not answer within ${timeoutMs} ms`,
    unreachable: `${registry} cannot be reached: ${said}`,
    "too-large": `the answer of ${registry} is too large, or it takes no more requests now: ${said}`,
  };
  // The cause is omitted because it has the headers that were sent.
  return unresolved(reason, words[reason] ?? `${registry} answered with what is no answer: ${said}`, limitOf(error));
}

/** A registry's message for an error: short, on one line, and without the token, in case the registry repeats it. */
function shown(text: string, secret: string | undefined): string {
  const open = secret === undefined || secret === "" ? text : text.replaceAll(secret, "[redacted]");
  const line = redactText(open).replace(/[\p{Cc}\p{Cf}\s]+/gu, " ");
  return line.length > SAID ? `${line.slice(0, SAID)}…` : line;
}
