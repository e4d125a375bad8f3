import { randomUUID } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client";
import { Fault, isObject, toFault } from "../core/index.js";
import { makeFolder } from "../io/index.js";
import { locked } from "./lock.js";

/** What one authorization server issued for one MCP server. */
export interface Kept {
  readonly issuer: string;
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
}

/** Where tokens and registrations are kept, by the URL of the MCP server and the issuer. */
export interface TokenStore {
  /** What an issuer issued for a server; without an issuer, what was last stored. */
  get(server: string | URL, issuer?: string): Promise<Kept | undefined>;
  put(server: string | URL, kept: Kept): Promise<void>;
  /** Deletes everything for a server. Returns whether there was anything. */
  forget(server: string | URL): Promise<boolean>;
}

/** By server, then by issuer. The last one of a server is in use. */
type StoredTokens = Map<string, Map<string, Kept>>;

/** `$XDG_CONFIG_HOME/anywire/tokens.json`, or the same under `~/.config`. */
export function tokenPath(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const home = env["XDG_CONFIG_HOME"];
  return join(home === undefined || home === "" ? join(homedir(), ".config") : home, "anywire", "tokens.json");
}

/** Tokens in a file that only its owner can read. Every change replaces the whole file. */
export function tokenStore(path: string = tokenPath()): TokenStore {
  return store({
    alone: (work) => locked(path, work),
    async load() {
      const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw new Fault("internal", `cannot read the tokens in ${path}: ${error.message}`, { cause: error });
      });
      return text === undefined ? new Map() : parse(text, path);
    },
    async save(stored) {
      await makeFolder(dirname(path), { mode: 0o700 });
      const fresh = `${path}.${randomUUID()}`;
      try {
        await writeFile(fresh, `${JSON.stringify(plain(stored), undefined, 2)}\n`, { mode: 0o600, flag: "wx" });
        await rename(fresh, path);
      } catch (error) {
        await rm(fresh, { force: true });
        throw new Fault("internal", `cannot write the tokens to ${path}: ${toFault(error).message}`, { cause: error });
      }
    },
  });
}

/** Tokens that end with the process. */
export function memoryStore(): TokenStore {
  const stored: StoredTokens = new Map();
  return store({ alone: (work) => work(), load: async () => stored, save: async () => {} });
}

/** Deletes the tokens and the registration for a server, so that the next connection signs in again. */
export function forget(server: string | URL, tokens: TokenStore = tokenStore()): Promise<boolean> {
  return tokens.forget(server);
}

interface StoreBackend {
  load(): Promise<StoredTokens>;
  save(stored: StoredTokens): Promise<void>;
  /** Runs `work` while other processes are locked out. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

function store({ load, save, alone }: StoreBackend): TokenStore {
  let last: Promise<unknown> = Promise.resolve();
  // One change at a time, each based on the current file: other processes write it too.
  const change = <T>(apply: (stored: StoredTokens) => T): Promise<T> => {
    const done = last.then(() =>
      alone(async () => {
        const stored = await load();
        const result = apply(stored);
        await save(stored);
        return result;
      }),
    );
    last = done.catch(() => {});
    return done;
  };
  return {
    async get(server, issuer) {
      await last;
      const issuers = (await load()).get(keyOf(server));
      return issuer === undefined ? [...(issuers?.values() ?? [])].at(-1) : issuers?.get(issuer);
    },
    put: (server, kept) =>
      change((stored) => {
        const issuers = stored.get(keyOf(server)) ?? new Map<string, Kept>();
        issuers.delete(kept.issuer);
        issuers.set(kept.issuer, kept);
        stored.set(keyOf(server), issuers);
      }),
    forget: (server) => change((stored) => stored.delete(keyOf(server))),
  };
}

function keyOf(server: string | URL): string {
  const url = new URL(server);
  url.hash = "";
  return url.href;
}

function plain(stored: StoredTokens): unknown {
  return { version: 1, servers: Object.fromEntries([...stored].map(([server, issuers]) => [server, [...issuers.values()]])) };
}

function parse(text: string, path: string): StoredTokens {
  try {
    const found: unknown = JSON.parse(text);
    const servers = isObject(found) ? found["servers"] : undefined;
    if (!isObject(servers)) throw new TypeError("no servers in it");
    return new Map(
      Object.entries(servers).map(([server, list]) => [server, new Map((list as Kept[]).map((kept) => [String(kept.issuer), kept]))]),
    );
  } catch (error) {
    throw new Fault("parse", `${path} is not a token file; move it away or delete it`, { cause: error });
  }
}
