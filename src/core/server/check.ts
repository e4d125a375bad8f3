import type { Awaitable } from "./run.js";

/** The value as the schema gives it, or what is wrong with it, each problem with the place it is at. */
export type Checked = { readonly value: unknown } | { readonly problem: string };
/** Checks a value; `root` is what the value is called in a problem. */
export type ValueCheck = (value: unknown, root: string) => Awaitable<Checked>;
