import { readFileSync, writeFileSync } from "node:fs";

export interface Peak {
  /** Bytes resident when watching began, and the most since. */
  readonly idle: number;
  readonly rss: number;
  /** The same for what V8 knows of: heap used, external, array buffers. */
  readonly idleHeap: number;
  readonly heap: number;
}

export interface MemoryProbe {
  /** Takes what is there now as idle. */
  start(): void;
  sample(): void;
  stop(): Peak;
}

/** Milliseconds between samples; the kernel's own high-water mark sees what happens between them. */
const EVERY_MS = 5;

export function memoryProbe(): MemoryProbe {
  let peak = { idle: 0, rss: 0, idleHeap: 0, heap: 0 };
  let timer: NodeJS.Timeout | undefined;
  let marked = false;
  const sample = (): void => {
    // Looking costs as much as a chunk takes.
    if (timer === undefined) return;
    peak.rss = Math.max(peak.rss, process.memoryUsage.rss());
    peak.heap = Math.max(peak.heap, heap());
  };
  return {
    start() {
      marked = resetHighWater();
      peak = { idle: process.memoryUsage.rss(), rss: 0, idleHeap: heap(), heap: 0 };
      timer = setInterval(sample, EVERY_MS);
    },
    sample,
    stop() {
      sample();
      clearInterval(timer);
      timer = undefined;
      return marked ? { ...peak, rss: Math.max(peak.rss, highWater()) } : peak;
    },
  };
}

/** `external` has the array buffers in it. */
function heap(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Linux alone can forget its high-water mark; elsewhere the samples have to do. */
function resetHighWater(): boolean {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
    return true;
  } catch {
    return false;
  }
}

function highWater(): number {
  const found = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync("/proc/self/status", "utf8"));
  return Number(found?.[1] ?? 0) * 1024;
}

/** What V8 knows of once garbage is gone, for a process that was started with --expose-gc. */
export function heapHeld(): number {
  for (let round = 0; round < 4; round++) globalThis.gc?.();
  return heap();
}

/** Bytes resident once garbage is gone, for a process that was started with --expose-gc. */
export function held(): number {
  for (let round = 0; round < 4; round++) globalThis.gc?.();
  return process.memoryUsage.rss();
}
