const units: Readonly<Record<string, number>> = { "": 1, b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30 };
const MOST = 2 ** 40;

/** Octets that a size in words stands for: `1gb`, `64KiB`, `100`; undefined where it is none, or more than 1 TiB. */
export function sizeInWords(words: unknown): number | undefined {
  const [, digits, unit] = /^(\d{1,13})([a-z]*)$/.exec(String(words).toLowerCase()) ?? [];
  const size = Number(digits) * (units[unit ?? ""] ?? Number.NaN);
  return size >= 0 && size <= MOST ? size : undefined;
}

const BLOCK = 64 * 1024;

/**
 * Octets from `offset` to `size`, made as they are taken. Every block of 64 KiB begins with its own number, so that a reader can tell
 * where it is; the rest of it is the same in all of them.
 */
export function* octets(offset: number, size: number): Generator<Uint8Array, void, undefined> {
  for (let at = offset; at < size; ) {
    const block = Math.floor(at / BLOCK);
    const bytes = Buffer.from(pattern);
    bytes.writeBigUInt64BE(BigInt(block), 0);
    const end = Math.min(size, (block + 1) * BLOCK);
    yield bytes.subarray(at - block * BLOCK, end - block * BLOCK);
    at = end;
  }
}

const pattern = Buffer.alloc(BLOCK, "Any MCP client, any MCP server, any wire, either era.\n", "latin1");
