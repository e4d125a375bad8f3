import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const src = (path: string): string => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

export default defineConfig({
  // The package by its own name is the source here, so that a test never holds two copies of it.
  resolve: {
    alias: [
      { find: /^anywire$/, replacement: src("api/index.ts") },
      { find: /^anywire\/(.+)$/, replacement: src("$1/index.ts") },
    ],
  },
  test: {
    include: ["src/**/*.spec.ts", "test/**/*.spec.ts"],
    // Many tests start children; more workers than cores only makes them wait for each other.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
