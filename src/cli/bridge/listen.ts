import { createServer } from "node:net";
import { toFault, wireFor } from "../../api/index.js";
import { DEFAULT_PORT } from "../../core/index.js";
import type { Options } from "../args/input.js";
import { misuse } from "../session/mistake.js";

export const HOST = "127.0.0.1";
/** How many ports after the first are tried. */
const TRIED = 100;

/** A port, perhaps with its host, as often typed. */
const withoutScheme = /^(?:(\[[0-9a-f:]+\]|[a-z0-9.-]*):)?(\d+)(?:\/.*)?$/i;

/** Where to listen, and a note if clients may not find the bridge where the user expects it. */
export interface Listening {
  readonly addresses: readonly string[];
  /** Printed if the usual port is in use, or if the bridge refuses every name by which other machines could call it. */
  readonly note?: string | undefined;
}

/** The addresses of `--listen`. Without any: every wire on the first free port from 8000 on. */
export async function listening(options: Options): Promise<Listening> {
  const given = options.texts("listen");
  if (given.length === 0) {
    const port = await freePort();
    const note = port === DEFAULT_PORT ? undefined : `port ${DEFAULT_PORT} is in use; listening on ${port}`;
    return { addresses: [`any://${HOST}:${port}`], note };
  }
  for (const address of given) {
    if (address.startsWith("memory:")) throw misuse("--listen memory: reaches nobody outside this process");
    await wireFor(address).catch((error) => {
      const [, host = "", rest] = withoutScheme.exec(address) ?? [];
      if (rest === undefined) throw misuse(`--listen: ${toFault(error).message}`);
      throw misuse(
        `--listen ${address} lacks its scheme: any://${host === "" ? HOST : host}:${rest} for every wire, or http:// or another for one`,
      );
    });
  }
  if (options.has("base-path") && !given.some((address) => address.startsWith("any")))
    throw misuse("--base-path is for any://; on other addresses the path is part of the address, as in http://127.0.0.1:8000/team/mcp");
  const [below, place, path] = given.map((address) => /^(any:\/\/[^/]+)(\/[^?#]+)$/.exec(address)).find((found) => found !== null) ?? [];
  if (below !== undefined) throw misuse(`--listen ${below}: any:// takes no path; give --listen ${place} --base-path ${path}`);
  if (given.filter(isStdio).length > 1) throw misuse("--listen stdio: is given twice, and there is one stdin and stdout");
  const places = given.map((address) => /^[a-z+]+:\/\/([^/]+:0*[1-9]\d*)/i.exec(address)?.[1]);
  const twice = places.find((place, at) => place !== undefined && places.indexOf(place) < at);
  if (twice !== undefined) throw misuse(`--listen names ${twice} twice; any://${twice} serves every wire there`);
  const named = options.has("allow-host") || options.has("public-url");
  return { addresses: given, note: !named && given.some(isWide) ? UNNAMED : undefined };
}

const UNNAMED = "clients have to call it by a loopback name, or by one that --allow-host names";

/** Whether other machines reach an address on which requests name their host. */
function isWide(address: string): boolean {
  const [, host] = /^(?:any|[a-z+]*(?:http|ws|grpc))s?:\/\/([^/]*?)(?::\d*)?(?:[/?]|$)/.exec(address) ?? [];
  return host !== undefined && !isLoopbackHost(host);
}

export function isLoopbackHost(host: string): boolean {
  return /^(?:localhost|127\.[\d.]+|\[::1\])$/i.test(host);
}

/** Whether stdout belongs to a client. */
export function isStdio(address: string): boolean {
  return /^([a-z]+\+)?stdio:/.test(address);
}

async function freePort(): Promise<number> {
  for (let port = DEFAULT_PORT; port < DEFAULT_PORT + TRIED; port++) if (await isFree(port)) return port;
  throw misuse(`ports ${DEFAULT_PORT} to ${DEFAULT_PORT + TRIED - 1} are all in use; name one with --listen`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, HOST, () => probe.close(() => resolve(true)));
  });
}
