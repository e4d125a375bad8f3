import { createHash, randomBytes, scrypt, timingSafeEqual } from "node:crypto";

/** A line of an API key file: the name that the key stands for, and its hash. */
export interface KeyLine {
  readonly name: string;
  readonly hash: { readonly kind: "sha256"; readonly digest: Buffer } | ScryptHash;
}

interface ScryptHash {
  readonly kind: "scrypt";
  readonly cost: number;
  readonly blockSize: number;
  readonly parallel: number;
  readonly salt: Buffer;
  readonly digest: Buffer;
}

const nameForm = /^[^\s:#][^\s:]*$/;
const named = /^([^\s:#][^\s:]*):(\S+)$/;
const scryptText = /^scrypt\$(\d{1,8})\$(\d{1,2})\$(\d{1,2})\$([A-Za-z0-9+/_=-]{8,128})\$([A-Za-z0-9+/_=-]{20,172})$/;
/** Bytes of memory that checking one key may take. */
const SCRYPT_MEMORY = 64 * 1024 * 1024;

/** Reads `name:sha256hex` or `name:scrypt$N$r$p$salt$hash` in base64; undefined for any other line. */
export function keyLine(line: string): KeyLine | undefined {
  const [, name, text] = named.exec(line) ?? [];
  if (name === undefined || text === undefined) return undefined;
  if (/^[0-9a-f]{64}$/i.test(text)) return { name, hash: { kind: "sha256", digest: Buffer.from(text, "hex") } };
  const [, cost, blockSize, parallel, salt, digest] = scryptText.exec(text) ?? [];
  if (salt === undefined || digest === undefined) return undefined;
  const [n, r, p] = [Number(cost), Number(blockSize), Number(parallel)];
  const usable = n >= 2 && (n & (n - 1)) === 0 && r > 0 && p > 0 && 128 * n * r <= SCRYPT_MEMORY && p <= 4;
  if (!usable) return undefined;
  return {
    name,
    hash: { kind: "scrypt", cost: n, blockSize: r, parallel: p, salt: Buffer.from(salt, "base64"), digest: Buffer.from(digest, "base64") },
  };
}

export function sha256(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}

export function matchesScrypt(key: string, { cost, blockSize, parallel, salt, digest }: ScryptHash): Promise<boolean> {
  return new Promise((resolve) => {
    scrypt(key, salt, digest.length, { N: cost, r: blockSize, p: parallel, maxmem: 2 * SCRYPT_MEMORY }, (error, found) =>
      resolve(error === null && timingSafeEqual(found, digest)),
    );
  });
}

/** A new key, and the line to add to the file. */
export function newKey(name: string): { readonly key: string; readonly line: string } {
  const key = `aw_${randomBytes(32).toString("base64url")}`;
  return { key, line: `${name}:${sha256(key).toString("hex")}` };
}

/** Whether a name can stand before the hash in a key file. */
export function isKeyName(name: string): boolean {
  return nameForm.test(name);
}
