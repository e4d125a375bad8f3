import type { MessageSpec } from "./field.js";
import { compileTable, type Slot, type Table } from "./table.js";

/** The tables of one protobuf package. */
export interface DialectOptions {
  /** The name of the package. */
  readonly name: string;
  readonly messages: readonly MessageSpec[];
  /** The names of each enum's values, by number. The first stands for no value. */
  readonly enums?: Readonly<Record<string, readonly string[]>> | undefined;
  /** The number of the field, in every message, that holds members without a field as JSON. Without it, such members are refused. */
  readonly others?: number | undefined;
}

export interface Dialect {
  readonly name: string;
  /** Throws a TypeError if the dialect has no such message. */
  tableOf(message: string): Table;
}

/** Makes the tables of a dialect. Throws a TypeError if they are inconsistent: a number or name twice, a missing message. */
export function dialect({ name, messages, enums = {}, others = 0 }: DialectOptions): Dialect {
  const tables = new Map<string, Table>();
  for (const message of messages) {
    if (tables.has(message.name)) throw new TypeError(`${name}: two messages are named ${message.name}`);
    tables.set(message.name, compileTable(message, others));
  }
  const link = (slot: Slot): void => {
    const { role } = slot;
    const { of, kind } = slot.field;
    if (slot.value !== undefined) return link(slot.value);
    if (kind === "message" || kind === "messages") {
      const table = tables.get(of ?? "");
      if (table === undefined) throw new TypeError(`${name}: ${slot.field.name} is of ${of}, which is not a message here`);
      slot.table = table;
    } else if (role === "enum" || role === "enums" || role === "enumList") {
      const names = enums[of ?? ""];
      if (names === undefined) throw new TypeError(`${name}: ${slot.field.name} is of ${of}, which is no enum here`);
      slot.names = names;
    }
  };
  for (const { byNumber } of tables.values()) for (const slot of byNumber) if (slot !== undefined) link(slot);
  return {
    name,
    tableOf(message) {
      const table = tables.get(message);
      if (table === undefined) throw new TypeError(`${name} has no message ${message}`);
      return table;
    },
  };
}
