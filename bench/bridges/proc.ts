import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";

/** Microseconds of processor time that the threads of a process have used. */
export function cpuOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return (
    threads.reduce((sum, thread) => sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]), 0) / 1000
  );
}

/** Bytes resident. */
export function residentOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
}

/** Forgets the most that was resident. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

/** The most bytes resident since then. */
export function peakOf(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
}

/** The processes that a process has started, and theirs. */
export function descendants(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync("/proc")) {
    const each = Number(entry);
    if (Number.isNaN(each)) continue;
    try {
      const stat = readFileSync(`/proc/${each}/stat`, "utf8");
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      children.set(parent, [...(children.get(parent) ?? []), each]);
    } catch {
      // It has ended meanwhile.
    }
  }
  const all = (of: number): number[] => (children.get(of) ?? []).flatMap((each) => [each, ...all(each)]);
  return all(pid);
}

/** The addresses on which a process listens, as the kernel writes them: all zeros is every interface. */
export function boundTo(pid: number): string[] {
  const open = list(`/proc/${pid}/fd`);
  if (open.length === 0) return [];
  const inodes = new Set(open.flatMap((fd) => /^socket:\[(\d+)\]$/.exec(link(pid, fd))?.[1] ?? []));
  return ["tcp", "tcp6"].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, "utf8")
      .split("\n")
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter((row) => row[3] === "0A" && inodes.has(row[9] ?? ""))
      .map((row) => (row[1] as string).split(":")[0] as string),
  );
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function link(pid: number, fd: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    return "";
  }
}
