import type { Awaitable } from "./run.js";

/** The value after the schema's conversions, or its problems, each with its place. */
export type Checked = { readonly value: unknown } | { readonly problem: string };
/** Checks a value. `root` is the name of the value in a problem. */
export type ValueCheck = (value: unknown, root: string) => Awaitable<Checked>;
