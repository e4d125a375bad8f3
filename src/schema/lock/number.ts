import { Names, OVERFLOW, snakeCase, VARIANT } from "../convert/names.js";
import type { MessageShape } from "../convert/shape.js";
import type { LockedField, LockedMessage } from "./lock.js";

/** The numbers and names of the fields of a message. */
export interface Numbered {
  readonly fields: readonly { readonly jsonName: string; readonly name: string; readonly number: number }[];
  readonly overflow: number | undefined;
  readonly locked: LockedMessage;
}

/** Numbers that protobuf reserves for itself. */
const [FIRST_KEPT, LAST_KEPT] = [19_000, 19_999];

/**
 * Numbers the fields of a message. Fields in the lock keep their number, others get the first free one. A field whose type changed gets a
 * new number, because old bytes would be misread.
 */
export function number(
  message: MessageShape,
  types: readonly string[],
  needsOverflow: boolean,
  before: LockedMessage | undefined,
): Numbered {
  const known = new Map(Object.entries(before?.fields ?? {}));
  const reservedNames = new Set(before?.reserved?.names);
  const reserved = new Set(before?.reserved?.numbers);
  const names = new Names(message.variants ? VARIANT : OVERFLOW, ...reservedNames);
  const kept = new Map<string, LockedField>();
  for (const [index, { jsonName }] of message.fields.entries()) {
    const old = known.get(jsonName);
    if (old === undefined) continue;
    known.delete(jsonName);
    kept.set(jsonName, { number: old.type === types[index] ? old.number : 0, name: names.take(old.name), type: old.type });
    if (old.type !== types[index]) reserved.add(old.number);
  }
  for (const { number, name } of known.values()) {
    reserved.add(number);
    reservedNames.add(names.take(name));
  }
  const used = new Set([...reserved, ...[...kept.values()].map((field) => field.number), before?.overflow ?? 0]);
  let last = 0;
  const next = (): number => {
    do last = last + 1 === FIRST_KEPT ? LAST_KEPT + 1 : last + 1;
    while (used.has(last));
    used.add(last);
    return last;
  };
  // Numbers are assigned in the order of the properties. The overflow gets the last one.
  const fields = message.fields.map(({ jsonName }) => {
    const old = kept.get(jsonName);
    return {
      jsonName,
      name: old?.name ?? names.take(snakeCase(jsonName)),
      number: old !== undefined && old.number > 0 ? old.number : next(),
    };
  });
  const overflow = needsOverflow ? (before?.overflow ?? next()) : undefined;
  if (!needsOverflow && before?.overflow !== undefined) reserved.add(before.overflow);
  const lockedFields = fields.map(({ jsonName, name, number: given }, index): [string, LockedField] => {
    const field: LockedField = { number: given, name, type: types[index] ?? "" };
    return [jsonName, message.fields[index]?.required === true ? { ...field, required: true } : field];
  });
  const locked: LockedMessage = {
    name: message.name,
    fields: Object.fromEntries(lockedFields),
    ...(overflow === undefined ? undefined : { overflow }),
    ...(reserved.size === 0
      ? undefined
      : { reserved: { numbers: [...reserved].sort((one, other) => one - other), names: [...reservedNames].sort() } }),
  };
  return { fields, overflow, locked };
}
