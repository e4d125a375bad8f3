import { Buffer } from "node:buffer";
import { badHeaders } from "./faults.js";

/** Code lengths of the bytes 0 to 255 and of the end of the text (RFC 7541, appendix B). */
// biome-ignore format: 32 a row
export const codeLengths: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
  6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
  15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
  20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
  22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
  26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
  20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
  30,
];
const END = 256;
/** The code has one leaf for each symbol, so one inner node fewer than symbols. */
const NODES = 256;
const PADDING = 7;

/**
 * The codes are canonical: shorter ones first, those of the same length in the order of their symbols, each one more than the previous.
 */
export function huffmanCodes(): number[] {
  const codes = new Array<number>(codeLengths.length).fill(0);
  let code = 0;
  for (let length = 1; length <= 30; length += 1) {
    for (const [symbol, its] of codeLengths.entries()) if (its === length) codes[symbol] = code++;
    code *= 2;
  }
  return codes;
}

const EMIT = 0x10000;
const FAIL = 0x20000;

interface Machine {
  /** By state and four bits: the next state, a symbol in the second byte, and flags. No code is shorter than five bits. */
  readonly steps: Int32Array;
  /** Whether a text may end in a state: at most seven one bits may be left over. */
  readonly ends: Uint8Array;
}

function build(): Machine {
  // Two entries for each node: a child node above 0, or the complement of a symbol. The root is node 0.
  const tree = new Int16Array(NODES * 2);
  let nodes = 1;
  for (const [symbol, code] of huffmanCodes().entries()) {
    let node = 0;
    for (let bit = (codeLengths[symbol] ?? 0) - 1; bit > 0; bit -= 1) {
      const way = node * 2 + ((code >>> bit) & 1);
      if (tree[way] === 0) tree[way] = nodes++;
      node = tree[way] ?? 0;
    }
    tree[node * 2 + (code & 1)] = ~symbol;
  }
  const steps = new Int32Array(NODES * 16);
  for (let index = 0; index < steps.length; index += 1) {
    let node = index >> 4;
    let flags = 0;
    for (let bit = 3; bit >= 0; bit -= 1) {
      node = tree[node * 2 + ((index >> bit) & 1)] ?? 0;
      if (node >= 0) continue;
      flags = ~node === END ? FAIL : EMIT | (~node << 8);
      node = 0;
      if (flags === FAIL) break;
    }
    steps[index] = flags | node;
  }
  const ends = new Uint8Array(NODES);
  for (let node = 0, depth = 0; depth <= PADDING; depth += 1, node = tree[node * 2 + 1] ?? 0) ends[node] = 1;
  return { steps, ends };
}

let machine: Machine | undefined;
/** For texts of up to this length. Longer ones get memory of their own. */
const scratch = Buffer.allocUnsafeSlow(1024);

/** Undefined if the text has more than `most` bytes. */
export function readHuffman(block: Uint8Array, range: { readonly start: number; readonly end: number }, most: number): string | undefined {
  machine ??= build();
  const { steps, ends } = machine;
  const longest = Math.min(most, Math.floor(((range.end - range.start) * 8) / 5));
  const text = longest <= scratch.length ? scratch : Buffer.allocUnsafe(longest);
  let length = 0;
  let state = 0;
  for (let at = range.start; at < range.end; at += 1) {
    const byte = block[at] ?? 0;
    for (let shift = 4; shift >= 0; shift -= 4) {
      const step = steps[(state << 4) | ((byte >> shift) & 0x0f)] ?? 0;
      if (step >= EMIT) {
        if (step >= FAIL) throw badHeaders("a text has the end of texts inside");
        if (length === most) return undefined;
        text[length++] = step >> 8;
      }
      state = step & 0xff;
    }
  }
  if (ends[state] !== 1) throw badHeaders("a text ends inside a code");
  return text.toString("latin1", 0, length);
}
