import { spawn } from "node:child_process";

/** By platform, what opens a URL when it is its one argument: never a shell, which would read characters of the URL. */
const openers: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens a page in the browser, if there is one; whoever calls has also printed the URL. */
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
