/** The parts of Node's Buffer that are used where it exists: it is many times faster than JavaScript. */
export interface NativeBuffer {
  from(bytes: ArrayBufferLike, offset: number, length: number): NativeView;
  from(text: string, encoding: "base64"): Uint8Array;
  allocUnsafeSlow(length: number): NativeView & Uint8Array;
  byteLength(text: string): number;
}
export interface NativeView {
  toString(encoding: "base64", start?: number, end?: number): string;
  toString(encoding: "latin1", start: number, end: number): string;
  write(text: string, offset: number, encoding: "base64"): number;
}

interface Platform {
  readonly Buffer?: NativeBuffer;
  readonly process?: { emitWarning?(warning: string, options: { readonly type: string; readonly detail?: string }): void };
  readonly setImmediate?: (run: () => void) => unknown;
  /** Exists everywhere. It makes this a type that the global object certainly has. */
  readonly Object: ObjectConstructor;
}

/** The global object, with members that a browser may not have. */
export const platform: Platform = globalThis;

/** Lets the process end while this timer waits. In a browser a timer is a number. */
export function unref(timer: unknown): void {
  if (typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function") timer.unref();
}
