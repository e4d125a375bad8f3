import { type Lock, type LockedMessage, type LockedMessages, own } from "./lock.js";

/** A change in a catalogue, for someone who has the old messages. */
export interface SchemaChange {
  readonly breaking: boolean;
  readonly tool: string;
  readonly message: string;
}

/** Compares a lock with the one that the catalogue would have now. */
export function compareLocks(before: Lock, now: Lock): SchemaChange[] {
  const changes: SchemaChange[] = [];
  for (const [tool, old] of Object.entries(before.tools)) {
    const add = (breaking: boolean, message: string): void => void changes.push({ breaking, tool, message });
    const current = own(now.tools, tool);
    if (old.former === true) continue;
    if (current === undefined || current.former === true) {
      add(true, "the tool is gone");
      continue;
    }
    compareMessages(old.input, current.input, "argument", add);
    if (old.output !== undefined && current.output === undefined) add(true, "the output schema is gone");
    else compareMessages(old.output ?? {}, current.output ?? {}, "result member", add);
  }
  for (const tool of Object.keys(now.tools))
    if (now.tools[tool]?.former !== true && (own(before.tools, tool)?.former ?? own(before.tools, tool) === undefined))
      changes.push({ breaking: false, tool, message: "the tool is new" });
  return changes;
}

type Add = (breaking: boolean, message: string) => void;

function compareMessages(before: LockedMessages, now: LockedMessages, what: string, add: Add): void {
  for (const [key, old] of Object.entries(before)) {
    const current = own(now, key);
    if (current !== undefined) compareFields(key, old, current, what, add);
  }
}

function compareFields(key: string, before: LockedMessage, now: LockedMessage, what: string, add: Add): void {
  const place = (name: string): string =>
    `${what} ${[...key.split("/").filter((part) => part !== "" && part !== "properties"), name].join(".")}`;
  if (before.name !== now.name) add(true, `the message ${before.name} is called ${now.name} now`);
  for (const [name, old] of Object.entries(before.fields)) {
    const current = own(now.fields, name);
    if (current === undefined) add(true, `${place(name)} is gone`);
    else if (current.type !== old.type) add(true, `${place(name)} was ${old.type}, and is ${current.type} now`);
    else if (current.required === true && old.required !== true && what === "argument") add(true, `${place(name)} is required now`);
    else if (current.required !== true && old.required === true && what !== "argument") add(true, `${place(name)} may be missing now`);
  }
  for (const [name, { required }] of Object.entries(now.fields))
    if (own(before.fields, name) === undefined)
      add(required === true && what === "argument", `${place(name)} is new${required === true ? ", and required" : ""}`);
  if (before.overflow !== undefined && now.overflow === undefined) add(true, `${what} ${key || "/"} takes no other members now`);
}
