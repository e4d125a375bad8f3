import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

/** The largest .netrc that is read. */
const NETRC_BYTES = 1024 * 1024;

/**
 * The token for a registry: from `BUF_TOKEN`, which is one token for every registry or a list `token@host,token@host`, or else the password
 * in `.netrc`. Error messages never quote either.
 */
export async function registryToken(registry: string, env: Environment): Promise<string | undefined> {
  const given = env["BUF_TOKEN"];
  if (given !== undefined && given !== "") {
    if (!given.includes("@") && !given.includes(",")) return given;
    for (const each of given.split(",")) {
      const at = each.indexOf("@");
      if (at > 0 && each.slice(at + 1).trim() === registry) return each.slice(0, at).trim();
    }
  }
  const path = env["NETRC"] ?? join(env["HOME"] ?? homedir(), process.platform === "win32" ? "_netrc" : ".netrc");
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || !found.isFile() || found.size > NETRC_BYTES) return undefined;
  return netrcPassword(await readFile(path, "utf8").catch(() => ""), registry);
}

/** The password for a machine in .netrc text. */
export function netrcPassword(text: string, machine: string): string | undefined {
  // A macro ends at the next empty line. Its words do not belong to the entries.
  const plain = text.replace(/^\s*macdef[^\n]*\n(?:[^\n]+\n)*/gm, "\n").replace(/^\s*#[^\n]*/gm, "");
  const words = [...plain.matchAll(/"((?:[^"\\]|\\.)*)"|\S+/g)].map(([word, quoted]) => quoted?.replace(/\\(.)/g, "$1") ?? word);
  let inside = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === "machine") inside = words[++at] === machine;
    else if (word === "default") inside = false;
    else if (word === "login" || word === "account") at++;
    else if (word === "password") {
      const password = words[++at];
      if (inside) return password;
    }
  }
  return undefined;
}
