// The README as it is published: links lead only to files that are in the package. `slim.mjs` puts it in place before npm packs;
// run by itself, after packing, this file puts the repository's own back.
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const own = fileURLToPath(new URL("../../README.md", import.meta.url));
const kept = fileURLToPath(new URL("../../.cache/README.md", import.meta.url));

/** What the package has beside the code. */
const inside = /^(?:https?:|#|LICENSE$|docs\/picture\.svg$|proto\/)/;

/** Links to pages of the repository become their text. */
export function packedReadme(text) {
  const unlinked = text.replace(/(!?)\[([^\]]+)\]\(([^)]+)\)/g, (link, _image, words, target) => (inside.test(target) ? link : words));
  return unlinked.replace("## Documentation\n", "## Documentation\n\nThese pages are in the repository, under `docs/`:\n");
}

/** Puts the published README in place. */
export function packReadme() {
  mkdirSync(fileURLToPath(new URL("../../.cache", import.meta.url)), { recursive: true });
  copyFileSync(own, kept);
  writeFileSync(own, packedReadme(readFileSync(own, "utf8")));
}

if (process.argv[1] === fileURLToPath(import.meta.url) && existsSync(kept)) {
  copyFileSync(kept, own);
  rmSync(kept);
}
