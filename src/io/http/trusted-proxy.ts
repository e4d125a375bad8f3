import { BlockList, isIP } from "node:net";
import { Fault } from "../../core/index.js";

/** Proxies in front of a listener that are trusted to say who calls. The same headers from anybody else are ignored. */
export interface TrustedProxyOptions {
  /** Addresses and networks, `10.0.0.5` or `10.0.0.0/8`, whose `X-Forwarded-For` is trusted. */
  readonly addresses: readonly string[];
  /** The header in which they name the signed-in user, in lower case. Such a user needs no other credentials. */
  readonly userHeader?: string | undefined;
}

/** Who is behind a request, according to the proxies. */
export interface Forwarded {
  /** The address of the client, as seen by the first proxy, or by this listener. */
  readonly remote: string | undefined;
  /** The user that a trusted proxy names. */
  readonly user: string | undefined;
}

/** A request by its origin and headers. */
export interface ForwardedRequest {
  readonly remote?: string | undefined;
  header(name: string): string | undefined;
}

const lists = new WeakMap<TrustedProxyOptions, BlockList>();

/** Finds out who calls. Throws a Fault `denied` if more than one has written to the user header. */
export function forwardedBy(request: ForwardedRequest, options: TrustedProxyOptions | undefined): Forwarded {
  const { remote } = request;
  if (options === undefined || !isTrusted(remote, listOf(options))) return { remote, user: undefined };
  const user = options.userHeader === undefined ? undefined : request.header(options.userHeader);
  // A proxy that appends to the header instead of setting it lets its clients choose a name.
  if (user?.includes(",") === true) throw new Fault("denied", `the header ${options.userHeader} came more than once`);
  return { remote: clientOf(request, listOf(options)), user: user === "" ? undefined : user };
}

/**
 * Each proxy appends the address that it got the request from. The last one that is not one of our proxies is the client; what stands
 * before is only its claim.
 */
function clientOf(request: ForwardedRequest, list: BlockList): string | undefined {
  const hops = (request.header("x-forwarded-for") ?? "").split(",").map((hop) => hop.trim().replace(/^\[(.+)\](:\d+)?$/, "$1"));
  let found = request.remote;
  for (const hop of hops.reverse()) {
    if (isIP(hop) === 0) break;
    found = hop;
    if (!isTrusted(hop, list)) break;
  }
  return found;
}

function isTrusted(address: string | undefined, list: BlockList): boolean {
  if (address === undefined) return false;
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*/, "");
  const family = isIP(plain);
  return family !== 0 && list.check(plain, family === 6 ? "ipv6" : "ipv4");
}

function listOf(options: TrustedProxyOptions): BlockList {
  let list = lists.get(options);
  if (list === undefined) lists.set(options, (list = blockList(options.addresses)));
  return list;
}

/** Throws a Fault `invalid-params` for anything that is not an address or a network. */
export function checkTrustedProxy(options: TrustedProxyOptions): void {
  listOf(options);
}

function blockList(addresses: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of addresses) {
    const [address = "", bits] = text.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    const most = family === "ipv6" ? 128 : 32;
    const prefix = bits === undefined ? most : Number(bits);
    if (isIP(address) === 0 || !/^\d{1,3}$/.test(bits ?? "0") || prefix > most)
      throw new Fault(
        "invalid-params",
        `not an address or a network of a proxy: ${JSON.stringify(text)}; it is written 10.0.0.5 or 10.0.0.0/8`,
      );
    list.addSubnet(address, prefix, family);
  }
  return list;
}
