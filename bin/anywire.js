#!/usr/bin/env node
import { main } from "../dist/cli/index.js";

const code = await main(process.argv.slice(2));
process.exitCode = code;
// Whoever was interrupted does not wait for a reader that does not read.
if (code > 128) process.exit();
