import { afterAll } from "vitest";
import { children, nobodyLeftSince } from "../fixtures/processes.js";

/** Set-up of the files that share a worker: what one of them leaves running fails that file, and not the next one that counts processes. */
const before = children();
afterAll(() => nobodyLeftSince(before));
