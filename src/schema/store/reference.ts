import { unresolved } from "./fault.js";

/** A module in a registry. */
export interface ModuleName {
  /** The host of the registry, as in references: `buf.build`. */
  readonly registry: string;
  readonly owner: string;
  readonly repository: string;
}

/** A parsed reference to a schema. */
export interface SchemaReference extends ModuleName {
  /** A full name of a message, or the name of a tool. */
  readonly symbol: string;
  /** A label or a commit; the module's default label if absent. */
  readonly version?: string | undefined;
}

/** The longest accepted reference. */
const LONGEST = 1_000;
const host = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(?::\d{1,5})?$/i;
const name = /^[a-z0-9][a-z0-9_-]*(?:\.[a-z0-9_-]+)*$/i;
const label = /^[a-z0-9_][a-z0-9_./-]{0,249}$/i;
const symbol = /^[a-z_][\w-]*(?:\.[a-z_]\w*)*$/i;

/**
 * Parses `buf.build/{owner}/{repository}/{package}.{message}:{version}` or `buf.build/{owner}/{repository}/{tool}:{version}`. Without a
 * version it means the default label, so the type URL of a `google.protobuf.Any` is a reference too. Throws a Fault.
 */
export function parseReference(text: string): SchemaReference {
  if (text.length > LONGEST) throw bad(text, `it is longer than ${LONGEST} characters`);
  if (text.includes("://")) throw bad(text, "it is a URL, and a reference has no scheme");
  const [registry = "", owner = "", repository = "", ...rest] = text.split("/");
  const last = rest.join("/");
  const colon = last.indexOf(":");
  const [named, version] = colon < 0 ? [last, undefined] : [last.slice(0, colon), last.slice(colon + 1)];
  if (!host.test(registry)) throw bad(text, "it does not begin with the host of a registry");
  if (!name.test(owner) || !name.test(repository)) throw bad(text, "after the host come an owner and a repository");
  if (!symbol.test(named)) throw bad(text, "it names no message and no tool");
  if (version !== undefined && !label.test(version)) throw bad(text, "its version is no label and no commit");
  return { registry: registry.toLowerCase(), owner, repository, symbol: named, version };
}

/** `buf.build/acme/tools` */
export function moduleText({ registry, owner, repository }: ModuleName): string {
  return `${registry}/${owner}/${repository}`;
}

/** Whether a version is a commit: a UUID without dashes. Commits never change. */
export function isCommit(version: string | undefined): version is string {
  return version !== undefined && /^[0-9a-f]{32}$/.test(version);
}

function bad(text: string, why: string): Error {
  const shown = JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
  return unresolved("reference", `${shown} is no reference: ${why}. One looks like buf.build/acme/tools/acme.tools.v1.SearchRequest:v1`);
}
