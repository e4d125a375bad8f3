import { timingSafeEqual } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { defaultTimeouts, Fault, fixedLimits } from "../../core/index.js";
import type { AuthOptions, Principal } from "../../io/index.js";
import { dropOldest } from "../../stream/index.js";
import { type KeyLine, keyLine, matchesScrypt, sha256 } from "./key-lines.js";

export interface ApiKeysOptions {
  /** Called if the file can no longer be read, and for each invalid line in it. */
  readonly onFault?: ((fault: Fault) => void) | undefined;
  /** Milliseconds after which the file is checked again; 1,000 unless given. */
  readonly recheckMs?: number | undefined;
}

/** Results of slow checks that are remembered. */
const REMEMBERED = 1_000;

/**
 * Admits callers with a key of a file: as a bearer token, or in `X-API-Key`. The file has only hashes, one `name:hash` a line, and is read
 * again when it changes. While it cannot be read, nobody is admitted. Throws if it cannot be read now.
 */
export async function apiKeys(path: string, options: ApiKeysOptions = {}): Promise<AuthOptions> {
  const file = new KeyFile(path, options);
  await file.load();
  return { verify: (token) => file.verify(token), tokenHeader: "x-api-key", recheckMs: defaultTimeouts.keyRecheckMs };
}

class KeyFile {
  readonly #path: string;
  readonly #options: ApiKeysOptions;
  #lines: readonly KeyLine[] = [];
  /** Identifies the version of the file that was read. */
  #stamp = "";
  #checked = 0;
  #loading: Promise<void> | undefined;
  /** Slow checks by the digest of the key, so that no key is kept. */
  #slow = new Map<string, Promise<string | undefined>>();
  /** Keys that were found valid: their owners are not checked again, however many others guess. */
  #proved = new Map<string, string>();
  #slowWaiting = 0;
  #lastSlow: Promise<unknown> = Promise.resolve();

  constructor(path: string, options: ApiKeysOptions) {
    this.#path = path;
    this.#options = options;
  }

  async verify(token: string): Promise<Principal | undefined> {
    if (performance.now() - this.#checked >= (this.#options.recheckMs ?? defaultTimeouts.keyFileMs)) {
      this.#loading ??= this.load()
        .catch((error) => this.#unreadable(error))
        .finally(() => {
          this.#loading = undefined;
        });
      await this.#loading;
    }
    const digest = sha256(token);
    let found: string | undefined;
    // Every line is compared, so that the time does not reveal which one matched.
    for (const { name, hash } of this.#lines) if (hash.kind === "sha256" && timingSafeEqual(hash.digest, digest)) found = name;
    found ??= await this.#verifySlowly(token, digest.toString("hex"));
    return found === undefined ? undefined : { id: found };
  }

  async load(): Promise<void> {
    const { mtimeMs, size, ino } = await stat(this.#path);
    this.#checked = performance.now();
    const stamp = `${mtimeMs} ${size} ${ino}`;
    if (stamp === this.#stamp) return;
    const lines: KeyLine[] = [];
    for (const [at, text] of (await readFile(this.#path, "utf8")).split("\n").entries()) {
      const line = text.trim();
      if (line === "" || line.startsWith("#")) continue;
      const read = keyLine(line);
      if (read !== undefined) lines.push(read);
      else this.#options.onFault?.(new Fault("parse", `${this.#path}: line ${at + 1} is not name:sha256 or name:scrypt$…; it is ignored`));
    }
    if (lines.length === 0) this.#options.onFault?.(new Fault("parse", `${this.#path} has no key, so every client is refused`));
    this.#lines = lines;
    this.#stamp = stamp;
    this.#slow = new Map();
    this.#proved = new Map();
  }

  #unreadable(error: unknown): void {
    this.#checked = performance.now();
    if (this.#stamp === "unreadable") return;
    this.#lines = [];
    this.#slow = new Map();
    this.#proved = new Map();
    this.#stamp = "unreadable";
    this.#options.onFault?.(new Fault("internal", `${this.#path} cannot be read, so no API key is valid`, { cause: error }));
  }

  async #verifySlowly(token: string, digest: string): Promise<string | undefined> {
    const lines = this.#lines.filter(({ hash }) => hash.kind === "scrypt");
    if (lines.length === 0) return undefined;
    const known = this.#proved.get(digest) ?? this.#slow.get(digest);
    if (known !== undefined) return known;
    if (this.#slowWaiting >= fixedLimits.apiKeys)
      throw new Fault("overload", "too many API keys are being checked", { data: { limit: "apiKeys", max: fixedLimits.apiKeys } });
    this.#slowWaiting++;
    const proved = this.#proved;
    const result = this.#lastSlow
      .then(() => firstMatch(token, lines))
      .then((name) => {
        if (name !== undefined) proved.set(digest, name);
        return name;
      })
      .finally(() => this.#slowWaiting--);
    this.#lastSlow = result.catch(() => {});
    if (this.#slow.size >= REMEMBERED) dropOldest(this.#slow);
    this.#slow.set(digest, result);
    return result;
  }
}

async function firstMatch(token: string, lines: readonly KeyLine[]): Promise<string | undefined> {
  for (const { name, hash } of lines) if (hash.kind === "scrypt" && (await matchesScrypt(token, hash))) return name;
  return undefined;
}
