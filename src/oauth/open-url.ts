import { spawn } from "node:child_process";

/** The program that opens a URL, by platform. The URL is its only argument: a shell would interpret characters of it. */
const openers: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens a page in the browser, if there is one. The caller has also printed the URL. */
export function openUrl(url: URL): void {
  if (url.protocol !== "https:" && url.protocol !== "http:") return;
  const [command, ...args] = openers[process.platform] ?? ["xdg-open"];
  try {
    const child = spawn(command, [...args, url.href], { shell: false, stdio: "ignore", detached: true, windowsHide: true });
    child.on("error", () => {});
    child.unref();
  } catch {
    // The printed URL is enough.
  }
}
