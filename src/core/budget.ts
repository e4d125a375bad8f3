import { Fault } from "./fault.js";
import type { Identity } from "./identity.js";
import { defaultLimits, type Limits } from "./wire.js";

/** What bounds the bytes that are held in total. */
export type BudgetLimits = Pick<Limits, "processBytes" | "identityBytes" | "connectionBytes" | "reserveBytes">;

/** Bytes up to which a message is small: it is counted with others, and is not what fills a memory. */
export const SMALL_BYTES: number = 16 * 1024;
/** Bytes that are not worth counting at all where nothing else waits. */
export const LITTLE_BYTES = 1024;
/** The part of what the process may hold that whole answers, params and unpacked messages may use: they are copied while they are converted. */
export const WHOLE_PART = 0.5;
/** What a call counts that is let in out of the reserve. */
const CALL_BYTES = 4 * 1024;
/** Bytes of one connection out of the reserve, so that nobody can use it up alone. */
const SPARE_BYTES = 64 * 1024;

interface Tally {
  bytes: number;
}

interface ConnectionTally extends Tally {
  /** Bytes that are out of the reserve. */
  spared: number;
}

/** The memory is that of the process, so its listeners count in one place; each has its own idea of how much that may be. */
const everyone: Tally = { bytes: 0 };
const reserve: Tally = { bytes: 0 };
const identities = new WeakMap<Identity, Tally>();
const connections = new WeakMap<object, Account>();

/** The bytes that are held for one connection, as part of what the process holds. */
export class Account {
  readonly limits: BudgetLimits;
  readonly #own: ConnectionTally = { bytes: 0, spared: 0 };
  readonly #unwritten: Tally = { bytes: 0 };

  constructor(limits: Partial<Limits> | undefined) {
    this.limits = limits === undefined ? defaultLimits : { ...defaultLimits, ...limits };
  }

  /** Of this connection alone. */
  get bytes(): number {
    return this.#own.bytes;
  }

  /** Whether as much is held as may be: for the connection, or by the process. */
  get full(): boolean {
    return this.#own.bytes >= this.limits.connectionBytes || everyone.bytes >= this.limits.processBytes;
  }

  /** Of that, what the client could take. */
  get unwritten(): number {
    return this.#unwritten.bytes;
  }

  /** Something to be held, of an identity where one is known. */
  hold(identity?: Identity): Held {
    // Whoever is known for one call only has nothing beside what the connection counts.
    return new Held(this.limits, this.#own, identity?.span === "lasting" ? identity : undefined);
  }

  /** Something to be held until the client takes it. */
  outgoing(): Held {
    return new Held(this.limits, this.#own, undefined, this.#unwritten);
  }

  /** Lets a call in although the account is full, out of the reserve; the returned function gives that back. A fault if even that is used up. */
  spare(): (() => void) | Fault {
    if (!fromReserve(this.#own, CALL_BYTES, this.limits)) return this.#over();
    return () => void toReserve(this.#own, CALL_BYTES);
  }

  #over(): Fault {
    const { connectionBytes, processBytes } = this.limits;
    return this.#own.bytes >= connectionBytes ? overBudget("connectionBytes", connectionBytes) : overBudget("processBytes", processBytes);
  }
}

/** A number of bytes that are held, which changes, and goes back to 0 when they are let go. */
export class Held {
  readonly #limits: BudgetLimits;
  readonly #connection: ConnectionTally;
  readonly #identity: Identity | undefined;
  readonly #unwritten: Tally | undefined;
  /** Of the identity; looked up when there is something to count, which most calls never have. */
  #caller: Tally | undefined;
  #bytes = 0;
  /** Bytes out of the reserve, beside those. */
  #spared = 0;

  constructor(limits: BudgetLimits, connection: ConnectionTally, identity?: Identity, unwritten?: Tally) {
    this.#limits = limits;
    this.#connection = connection;
    this.#identity = identity;
    this.#unwritten = unwritten;
  }

  get bytes(): number {
    return this.#bytes + this.#spared;
  }

  /** So much is held now, whether or not it may be: for what is there already. */
  set(bytes: number): void {
    if (this.#spared > 0) {
      toReserve(this.#connection, this.#spared);
      this.#spared = 0;
    }
    const more = bytes - this.#bytes;
    if (more === 0) return;
    this.#bytes = bytes;
    this.#connection.bytes += more;
    everyone.bytes += more;
    if (this.#unwritten !== undefined) this.#unwritten.bytes += more;
    if (this.#identity !== undefined) this.#tally(this.#identity).bytes += more;
  }

  /**
   * The same if there is room for it in every share; else nothing changes, and the fault names the share. `part`: of what the process
   * may hold, for what will be there more than once while it is converted.
   */
  grow(bytes: number, part = 1): Fault | undefined {
    const more = bytes - this.#bytes;
    if (more > 0) {
      const { connectionBytes, identityBytes, processBytes } = this.#limits;
      if (this.#connection.bytes + more > connectionBytes) return overBudget("connectionBytes", connectionBytes);
      if (this.#identity !== undefined && this.#tally(this.#identity).bytes + more > identityBytes)
        return overBudget("identityBytes", identityBytes);
      if (everyone.bytes + more > processBytes * part) return overBudget("processBytes", processBytes);
    }
    this.set(bytes);
    return undefined;
  }

  /** So much is held now: for what has come already. The fault names a share that has no room for it; what is small may be of the reserve. */
  count(bytes: number, part?: number): Fault | undefined {
    const over = this.grow(bytes, part);
    if (over === undefined) return undefined;
    const small = bytes <= SMALL_BYTES;
    this.set(small ? 0 : bytes);
    if (!small) return over;
    if (!fromReserve(this.#connection, bytes, this.#limits)) return over;
    this.#spared = bytes;
    return undefined;
  }

  free(): void {
    this.set(0);
  }

  /** The same bytes in another's hands; nothing is held here any more. */
  handOver(): Held {
    const other = new Held(this.#limits, this.#connection, this.#identity, this.#unwritten);
    other.#bytes = this.#bytes;
    other.#spared = this.#spared;
    this.#bytes = this.#spared = 0;
    return other;
  }

  #tally(identity: Identity): Tally {
    if (this.#caller !== undefined) return this.#caller;
    let tally = identities.get(identity);
    if (tally === undefined) identities.set(identity, (tally = { bytes: 0 }));
    return (this.#caller = tally);
  }
}

function fromReserve(connection: ConnectionTally, bytes: number, { reserveBytes }: BudgetLimits): boolean {
  if (connection.spared + bytes > SPARE_BYTES || reserve.bytes + bytes > reserveBytes) return false;
  connection.spared += bytes;
  reserve.bytes += bytes;
  return true;
}

function toReserve(connection: ConnectionTally, bytes: number): void {
  connection.spared -= bytes;
  reserve.bytes -= bytes;
}

/** The account of a connection that is known by an object of its own, such as its socket. */
export function accountOf(connection: object, limits: Partial<Limits> | undefined): Account {
  let account = connections.get(connection);
  if (account === undefined) connections.set(connection, (account = new Account(limits)));
  return account;
}

/** Bytes that the process holds for all of its connections. */
export function heldBytes(): number {
  return everyone.bytes + reserve.bytes;
}

const whose: Readonly<Record<"connectionBytes" | "identityBytes" | "processBytes", string>> = {
  connectionBytes: "this connection",
  identityBytes: "this caller",
  processBytes: "all callers together",
};

function overBudget(limit: keyof typeof whose, max: number): Fault {
  return new Fault("overload", `the server holds as much as it may for ${whose[limit]}: ${max} bytes`, { data: { limit, max } });
}
