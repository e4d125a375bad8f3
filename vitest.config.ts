import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { processes } from "./test/support/worker.js";

const src = (path: string): string => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

const specs = ["src/**/*.spec.ts", "test/**/*.spec.ts"];
const ownProcess = [
  "test/{browser,cli,faults,identity,security,workers}/**/*.spec.ts",
  "test/grpc/framing/**/*.spec.ts",
  "test/grpc/{streams,bad-input,browser}.spec.ts",
  "test/http/large*.spec.ts",
  // It looks at hidden classes. V8 gives up on them where many files have made objects of many shapes.
  "test/mapping/caches.spec.ts",
];

export default defineConfig({
  // The package by its own name is the source here, so that a test never holds two copies of it.
  resolve: {
    alias: [
      { find: /^anywire$/, replacement: src("api/index.ts") },
      { find: /^anywire\/(.+)$/, replacement: src("$1/index.ts") },
    ],
  },
  test: {
    globalSetup: "tools/test-programs.mjs",
    pool: processes,
    // A process a file costs most of a second. It goes to those that measure their process, end it or start many others.
    projects: [
      {
        extends: true,
        test: { name: "shared", isolate: false, include: specs, exclude: ownProcess, setupFiles: "test/support/processes-left.ts" },
      },
      { extends: true, test: { name: "own process", include: ownProcess } },
    ],
    // Many tests wait for children and timers: one worker more than two cores takes a sixth less time, and more than that makes them wait for each other.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // CI runs on shared machines. It gives a failed test a second try and prints "retry x1" beside it: such a test is to be mended.
    retry: process.env.CI ? 1 : 0,
    // What tests print says how far they are, and would hide what failed at the end of a long log.
    silent: process.env.CI ? "passed-only" : false,
  },
});
