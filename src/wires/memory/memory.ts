import {
  type Address,
  type Connection,
  type DialOptions,
  Fault,
  type Listener,
  type ListenOptions,
  listenerOf,
  type Service,
  type Wire,
} from "../../core/index.js";
import { dialLink, type Link, observedAs, ServedLinks } from "../../era/index.js";
import { linkPair } from "./pair.js";

interface MemoryPlace {
  accept(link: Link): void;
}

/** Items in a page: few, because more gain nothing where a page costs no round trip. */
const PAGE_ITEMS = 64;

/** A wire within one process: `memory:name` on both ends. */
export function memoryWire(): Wire {
  const places = new Map<string, MemoryPlace>();
  return {
    name: "memory",
    accepts: (address) => typeof address === "string" && address.startsWith("memory:"),
    listen: (service, address, options) => listen(places, service, address, observedAs(options, "listen", "memory")),
    dial: (address, options) => dial(places, address, observedAs(options, "dial", "memory")),
  };
}

async function listen(places: Map<string, MemoryPlace>, service: Service, address: Address, options: ListenOptions): Promise<Listener> {
  const name = String(address);
  if (places.has(name)) throw new Fault("unavailable", `${name} is already listened on`, { data: { reason: "in-use" } });
  const links = new ServedLinks(service, { pageSize: PAGE_ITEMS, ...options });
  places.set(name, { accept: (link) => void links.add(link) });
  return listenerOf(name, () => {
    places.delete(name);
    return links.drain();
  });
}

async function dial(places: Map<string, MemoryPlace>, address: Address, options: DialOptions): Promise<Connection> {
  const place = places.get(String(address));
  if (place === undefined) throw new Fault("unavailable", `nothing listens on ${String(address)}`, { data: { reason: "refused" } });
  const [mine, theirs] = linkPair();
  place.accept(theirs);
  return dialLink(mine, options);
}

/** The process's own memory wire, which `serve` and `connect` use for `memory:name`. */
export const memory: Wire = memoryWire();
