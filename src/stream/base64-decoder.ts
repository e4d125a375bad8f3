import { decodeBase64 } from "./base64.js";
import { concat } from "./bytes.js";
import { type NativeBuffer, type NativeView, platform } from "./platform.js";

const native = platform.Buffer;
const latin1 = new TextDecoder("latin1");

/** Decodes base64 that arrives as bytes, in pieces of any size. Throws a SyntaxError for what decodeBase64() would refuse. */
export interface Base64Decoder {
  push(text: Uint8Array): void;
  /** Ends the text and returns all decoded bytes. */
  finish(): Uint8Array;
}

/** `length` is the expected number of bytes. They are decoded straight into memory of that size, so no text is held. */
export function base64Decoder(length: number): Base64Decoder {
  return native === undefined ? new Pieces() : new Decoder(native, length);
}

class Pieces implements Base64Decoder {
  readonly #texts: string[] = [];

  push(text: Uint8Array): void {
    this.#texts.push(latin1.decode(text));
  }

  finish(): Uint8Array {
    return decodeBase64(this.#texts.join(""));
  }
}

class Decoder implements Base64Decoder {
  readonly #native: NativeBuffer;
  readonly #full: Uint8Array[] = [];
  #memory: NativeView & Uint8Array;
  #at = 0;
  /** Characters of an incomplete group. */
  #carry = "";
  #padded = false;

  constructor(native: NativeBuffer, length: number) {
    this.#native = native;
    this.#memory = native.allocUnsafeSlow(length);
  }

  push(text: Uint8Array): void {
    const view = this.#native.from(text.buffer, text.byteOffset, text.byteLength);
    const missing = this.#carry === "" ? 0 : Math.min(4 - this.#carry.length, text.byteLength);
    if (missing > 0) {
      this.#carry += view.toString("latin1", 0, missing);
      if (this.#carry.length < 4) return;
      this.#write(this.#carry);
    }
    const end = text.byteLength - ((text.byteLength - missing) % 4);
    this.#carry = view.toString("latin1", end, text.byteLength);
    if (end > missing) this.#write(view.toString("latin1", missing, end));
  }

  finish(): Uint8Array {
    if (this.#carry !== "") throw new SyntaxError("the text is not base64");
    const last = new Uint8Array(this.#memory.buffer, 0, this.#at);
    return this.#full.length === 0 ? last : concat([...this.#full, last]);
  }

  #write(groups: string): void {
    const padding = groups.endsWith("==") ? 2 : groups.endsWith("=") ? 1 : 0;
    const length = (groups.length / 4) * 3 - padding;
    if (this.#at + length > this.#memory.byteLength) {
      this.#full.push(new Uint8Array(this.#memory.buffer, 0, this.#at));
      this.#memory = this.#native.allocUnsafeSlow(Math.max(length, this.#memory.byteLength));
      this.#at = 0;
    }
    const written = this.#memory.write(groups, this.#at, "base64");
    // Buffer skips what is not base64, and takes the alphabet of URLs as well.
    if (this.#padded || written !== length || groups.includes("-") || groups.includes("_")) throw new SyntaxError("the text is not base64");
    this.#padded = padding > 0;
    this.#at += written;
  }
}
