// Measures how long a schema takes to resolve: from a registry on loopback, from the disk, from memory.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { descriptorSet, schemaStore, serveRegistry } from "../../dist/schema/index.js";

/** In milliseconds, of descriptors of these tools: the median of some fresh stores, and of many questions to one. */
export async function resolution(tools, [first]) {
  const folder = mkdtempSync(join(tmpdir(), "anywire-resolve-"));
  mkdirSync(join(folder, "registry/acme/tools"), { recursive: true });
  writeFileSync(join(folder, "registry/acme/tools/v1.binpb"), descriptorSet(tools));
  const listener = await serveRegistry(join(folder, "registry"), "http://127.0.0.1:0");
  const reference = `buf.build/acme/tools/${first}:v1`;
  const timed = async (store, from) => {
    const since = performance.now();
    const found = await store.resolve(reference);
    const ms = performance.now() - since;
    if (found.from !== from) throw new Error(`resolved from ${found.from}, not from ${from}`);
    return ms;
  };
  const fresh = (cache) => schemaStore({ registries: { "buf.build": { url: listener.address } }, cache, env: { HOME: folder } });
  const sums = { registry: [], disk: [], memory: [] };
  const open = [];
  try {
    for (let round = 0; round < 11; round++) {
      const cache = join(folder, `cache${round}`);
      for (const from of ["registry", "disk"]) {
        const store = fresh(cache);
        open.push(store);
        sums[from].push(await timed(store, from));
        for (let again = 0; again < 100; again++) sums.memory.push(await timed(store, "memory"));
      }
    }
  } finally {
    for (const store of open) store.close();
    await listener.close();
    rmSync(folder, { recursive: true });
  }
  // The first of all loads the code, which whoever asks for one schema waits for, too.
  return { cold: sums.registry[0], registry: median(sums.registry.slice(1)), disk: median(sums.disk), memory: median(sums.memory) };
}

function median(values) {
  return values.sort((one, other) => one - other)[Math.floor(values.length / 2)];
}
