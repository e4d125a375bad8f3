import bundled from "@sparticuz/chromium";
import { type Browser, chromium } from "playwright-core";

/** A Chromium that keeps the rules about origins: the flags that come with the binary would turn them off. */
export async function openChromium(): Promise<Browser> {
  const executablePath = await bundled.executablePath();
  return chromium.launch({ executablePath, args: ["--no-zygote", "--disable-gpu", "--headless=shell"] }).catch((cause) => {
    throw new Error(`Chromium does not start here: see what ldd ${executablePath} misses`, { cause });
  });
}
