import { Fault } from "./fault.js";
import { quotaOwner } from "./identity.js";
import { type Limits, limitsOf } from "./limits.js";

/** The limits on the bytes that are held in total, and on the calls in flight. */
export type BudgetLimits = Pick<
  Limits,
  "processBytes" | "principalBytes" | "connectionBytes" | "reserveBytes" | "inFlightPerPrincipal" | "inFlightPerProcess"
>;

/** A message of up to this many bytes is small: where its share is full, it may be held in the reserve. */
export const SMALL_BYTES: number = 16 * 1024;
/** So few bytes are not counted at all where nothing else waits. */
export const LITTLE_BYTES = 1024;
/** The part of `processBytes` that whole answers, large params and unpacked messages may use: they are copied while they are converted. */
export const WHOLE_PART = 0.5;
/** What a call counts in addition to its params, and an open request in addition to its headers. */
export const CALL_BYTES: number = 4 * 1024;
/** The bytes of the reserve that one connection may use, and the part of it that one owner may use, so that nobody can use it up alone. */
const SPARE_BYTES = 64 * 1024;
const SPARE_PART = 1 / 16;

interface Tally {
  bytes: number;
}

interface Share extends Tally {
  /** Bytes held in the reserve. */
  spared: number;
  /** Calls in flight. */
  calls: number;
}

/** All listeners of the process share its memory, so they count in one place. Each has its own limit on the total. */
const everyone: Pick<Share, "bytes" | "calls"> = { bytes: 0, calls: 0 };
const reserve: Tally = { bytes: 0 };
const connections = new WeakMap<object, Account>();
/** Principals and remote addresses, for as long as something refers to them. */
const owners = new Map<string, WeakRef<Share>>();
const unused = new FinalizationRegistry<string>((key) => {
  if (owners.get(key)?.deref() === undefined) owners.delete(key);
});

function shareOf(owner: string): Share {
  const known = owners.get(owner)?.deref();
  if (known !== undefined) return known;
  const made: Share = { bytes: 0, spared: 0, calls: 0 };
  owners.set(owner, new WeakRef(made));
  unused.register(made, owner);
  return made;
}

/**
 * The bytes that are held for one connection, as part of what its owner holds and what the process holds. The owner is the principal;
 * without one, the remote address. Callers that have neither cannot be told apart, so a share would protect none from another.
 */
export class Account {
  readonly limits: BudgetLimits;
  readonly #own: Share = { bytes: 0, spared: 0, calls: 0 };
  readonly #unwritten: Tally = { bytes: 0 };
  readonly #address: Share | undefined;
  /** The principal that was named last. Most connections have only one. */
  #principal: string | undefined;
  #principalShare: Share | undefined;

  constructor(limits: Partial<Limits> | undefined, remote?: string) {
    this.limits = limitsOf(limits);
    this.#address = remote === undefined ? undefined : shareOf(quotaOwner({ remote }));
  }

  /** Bytes held for this connection alone. */
  get bytes(): number {
    return this.#own.bytes;
  }

  /** Whether the connection or the process holds as much as it may. */
  get full(): boolean {
    return this.#own.bytes >= this.limits.connectionBytes || everyone.bytes >= this.limits.processBytes;
  }

  /** The part of `bytes` that waits for the client to take it. */
  get unwritten(): number {
    return this.#unwritten.bytes;
  }

  /** Starts to count something that is held, for a principal where one is known. */
  hold(principal?: string): Held {
    return new Held(this.limits, this.#own, this.#owner(principal));
  }

  /** Starts to count something that is held until the client takes it. */
  outgoing(principal?: string): Held {
    return new Held(this.limits, this.#own, this.#owner(principal), this.#unwritten);
  }

  #owner(principal: string | undefined): Share | undefined {
    if (principal === undefined) return this.#address;
    if (principal !== this.#principal) {
      this.#principal = principal;
      this.#principalShare = shareOf(quotaOwner({ principal }));
    }
    return this.#principalShare;
  }
}

/** Counts the bytes of one thing that is held. The number may change, and goes back to 0 when the thing is released. */
export class Held {
  readonly #limits: BudgetLimits;
  readonly #connection: Share;
  readonly #unwritten: Tally | undefined;
  #owner: Share | undefined;
  #bytes = 0;
  /** Bytes in the reserve, in addition to `#bytes`. */
  #spared = 0;
  /** Whether this is a call in flight. */
  #call = false;

  constructor(limits: BudgetLimits, connection: Share, owner?: Share, unwritten?: Tally) {
    this.#limits = limits;
    this.#connection = connection;
    this.#owner = owner;
    this.#unwritten = unwritten;
  }

  get bytes(): number {
    return this.#bytes + this.#spared;
  }

  /** Sets the count without checking any limit: for bytes that are in memory already. */
  set(bytes: number): void {
    if (this.#spared > 0) this.#spare(-this.#spared);
    const more = bytes - this.#bytes;
    if (more === 0) return;
    this.#bytes = bytes;
    this.#connection.bytes += more;
    everyone.bytes += more;
    if (this.#unwritten !== undefined) this.#unwritten.bytes += more;
    if (this.#owner !== undefined) this.#owner.bytes += more;
  }

  /**
   * Like `set`, if every share has room. Otherwise nothing changes, and the fault names the share that is full. `part` is the part of
   * `processBytes` that may be used: less than 1 for what is copied while it is converted.
   */
  grow(bytes: number, part = 1): Fault | undefined {
    const more = bytes - this.#bytes;
    if (more > 0) {
      const { connectionBytes, principalBytes, processBytes } = this.#limits;
      if (this.#connection.bytes + more > connectionBytes) return overBudget("connectionBytes", connectionBytes);
      if (this.#owner !== undefined && this.#owner.bytes + more > principalBytes) return overBudget("principalBytes", principalBytes);
      if (everyone.bytes + more > processBytes * part) return overBudget("processBytes", processBytes);
    }
    this.set(bytes);
    return undefined;
  }

  /**
   * Counts bytes that have arrived already. A small message may go into the reserve. Otherwise the fault names the share that has no room;
   * the bytes of a large one are counted all the same.
   */
  count(bytes: number, part?: number): Fault | undefined {
    const over = this.grow(bytes, part);
    if (over === undefined) return undefined;
    const small = bytes <= SMALL_BYTES;
    this.set(small ? 0 : bytes);
    if (!small || !this.#mayBeSpared(bytes)) return over;
    this.#spare(bytes);
    return undefined;
  }

  /** Counts this as a call in flight until `free()`. The fault names the share that has too many calls. */
  begin(): Fault | undefined {
    const { inFlightPerPrincipal, inFlightPerProcess } = this.#limits;
    if (this.#owner !== undefined && this.#owner.calls >= inFlightPerPrincipal)
      return tooMany("inFlightPerPrincipal", inFlightPerPrincipal);
    if (everyone.calls >= inFlightPerProcess) return tooMany("inFlightPerProcess", inFlightPerProcess);
    this.#call = true;
    this.#calls(1);
    return undefined;
  }

  free(): void {
    this.set(0);
    if (!this.#call) return;
    this.#call = false;
    this.#calls(-1);
  }

  #calls(more: number): void {
    everyone.calls += more;
    if (this.#owner !== undefined) this.#owner.calls += more;
  }

  /** Counts what is held here for a principal who has just become known. */
  claim(principal: string): void {
    const { bytes } = this;
    this.set(0);
    if (this.#call) this.#calls(-1);
    this.#owner = shareOf(quotaOwner({ principal }));
    this.set(bytes);
    if (this.#call) this.#calls(1);
  }

  /** Moves the bytes to a new `Held`; this one holds none afterwards. */
  handOver(): Held {
    const other = new Held(this.#limits, this.#connection, this.#owner, this.#unwritten);
    other.#bytes = this.#bytes;
    other.#spared = this.#spared;
    this.#bytes = this.#spared = 0;
    return other;
  }

  #mayBeSpared(bytes: number): boolean {
    const { reserveBytes } = this.#limits;
    if (this.#connection.spared + bytes > SPARE_BYTES || reserve.bytes + bytes > reserveBytes) return false;
    return this.#owner === undefined || this.#owner.spared + bytes <= reserveBytes * SPARE_PART;
  }

  #spare(more: number): void {
    this.#spared += more;
    this.#connection.spared += more;
    reserve.bytes += more;
    if (this.#owner !== undefined) this.#owner.spared += more;
  }
}

/** The account of a connection, which is identified by an object such as its socket. */
export function accountOf(connection: object, limits: Partial<Limits> | undefined, remote?: string): Account {
  let account = connections.get(connection);
  if (account === undefined) connections.set(connection, (account = new Account(limits, remote)));
  return account;
}

/** Bytes that the process holds for all of its connections. */
export function heldBytes(): number {
  return everyone.bytes + reserve.bytes;
}

const whose: Readonly<Record<"connectionBytes" | "principalBytes" | "processBytes", string>> = {
  connectionBytes: "this connection",
  principalBytes: "this caller",
  processBytes: "all callers together",
};

function tooMany(limit: "inFlightPerPrincipal" | "inFlightPerProcess", max: number): Fault {
  const of = limit === "inFlightPerPrincipal" ? whose.principalBytes : whose.processBytes;
  return new Fault("overload", `too many calls in flight for ${of}: the limit is ${max}`, { data: { limit, max } });
}

function overBudget(limit: keyof typeof whose, max: number): Fault {
  return new Fault("overload", `the server holds too much data for ${whose[limit]}: the limit is ${max} bytes`, { data: { limit, max } });
}
