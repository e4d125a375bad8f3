import { BlockList, isIP } from "node:net";

/** How far away an address is. `forbidden`: where no OAuth server can be: link-local, cloud metadata, unspecified, multicast. */
export type AddressReach = "forbidden" | "loopback" | "private" | "public";

function list(...subnets: readonly (readonly [string, number])[]): BlockList {
  const blocks = new BlockList();
  for (const [net, prefix] of subnets) blocks.addSubnet(net, prefix, net.includes(":") ? "ipv6" : "ipv4");
  return blocks;
}

const lists: readonly (readonly [AddressReach, BlockList])[] = [
  ["loopback", list(["127.0.0.0", 8], ["::1", 128])],
  [
    "forbidden",
    list(
      ["0.0.0.0", 8],
      ["169.254.0.0", 16],
      ["100.100.100.200", 32],
      ["224.0.0.0", 3],
      ["::", 128],
      ["fe80::", 10],
      ["ff00::", 8],
      ["fd00:ec2::254", 128],
    ),
  ],
  ["private", list(["10.0.0.0", 8], ["172.16.0.0", 12], ["192.168.0.0", 16], ["100.64.0.0", 10], ["fc00::", 7])],
];

/** The reach of an IP address. An IPv4 address mapped into IPv6 counts as IPv4. */
export function reachOf(address: string): AddressReach {
  const family = isIP(address) === 6 ? "ipv6" : "ipv4";
  return lists.find(([, blocks]) => blocks.check(address, family))?.[0] ?? "public";
}

/** The IP address in a URL's host, if it is one. */
export function literal(url: URL): string | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return isIP(host) === 0 ? undefined : host;
}

/** Whether a URL names this machine. Only its name counts, because what a name resolves to may change. */
export function isLoopbackUrl(url: URL): boolean {
  const address = literal(url);
  return address === undefined ? /^(.+\.)?localhost$/.test(url.hostname) : reachOf(address) === "loopback";
}
