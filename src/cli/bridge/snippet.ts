import type { Target } from "../args/input.js";

/** What the snippet tells a client. */
export interface SnippetOptions {
  readonly name: string;
  readonly url: string;
  /** Streamable HTTP, or HTTP+SSE. */
  readonly type: "http" | "sse";
  /** Whether clients need a key. */
  readonly keyed: boolean;
}

type Snippet = (options: SnippetOptions) => { readonly where: string; readonly lines: readonly string[] };

/** By client, as `--snippet` names it. */
const snippets: Readonly<Record<string, Snippet>> = {
  claude: ({ name, url, type, keyed }) => ({
    where: "For Claude Code, run",
    lines: [`claude mcp add --transport ${type} ${name} ${url}${keyed ? ' --header "Authorization: Bearer <key>"' : ""}`],
  }),
  cursor: ({ name, url, keyed }) => ({
    where: "For Cursor, in ~/.cursor/mcp.json",
    lines: pretty({ mcpServers: { [name]: { url, ...headers(keyed) } } }),
  }),
  vscode: ({ name, url, type, keyed }) => ({
    where: "For VS Code, in .vscode/mcp.json",
    lines: pretty({ servers: { [name]: { type, url, ...headers(keyed) } } }),
  }),
};

/** The lines to print; without a client, the form that most clients accept. */
export function snippet(client: string | undefined, options: SnippetOptions): readonly string[] {
  if (client === "none") return [];
  const { where, lines } = snippets[client ?? ""]?.(options) ?? short(options);
  return ["", `${where}:`, ...lines.map((line) => `  ${line}`)];
}

function short({ name, url, type, keyed }: SnippetOptions): ReturnType<Snippet> {
  const entry = JSON.stringify({ type, url, ...headers(keyed) });
  return { where: `For "mcpServers" of your client (or see --snippet)`, lines: [`"${name}": ${entry}`] };
}

function headers(keyed: boolean): object {
  return keyed ? { headers: { Authorization: "Bearer <key>" } } : {};
}

function pretty(value: object): readonly string[] {
  return JSON.stringify(value, undefined, 2).split("\n");
}

/** A short name for the server, from its package, script or host. */
export function serverName(target: Target): string {
  const words = typeof target === "string" ? [hostOf(target)] : [target.command, ...target.args];
  const telling = words.filter(
    (word) => !word.startsWith("-") && !/^(npx|node|bunx|bun|deno|uvx|uv|python3?|sh|run|exec|-y)$/.test(base(word)),
  );
  const plain = base(telling[0] ?? words[0] ?? "")
    .replace(/^(mcp-)?server-|-(mcp-)?server$/g, "")
    .replaceAll(/[^\w-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 32);
  return plain === "" ? "server" : plain;
}

/** The last part of a path or package name, without version or extension. The name `index` is skipped, because it says nothing. */
function base(word: string): string {
  const parts = word
    .replace(/(?<=.)@[\w.^~-]*$/, "")
    .split(/[\\/]/)
    .filter((part) => part !== "");
  const last = (parts.pop() ?? "").replace(/\.(m?[jt]s|cjs|py|exe)$/, "");
  return /^(index|main|server|cli|dist)$/.test(last) && parts.length > 0 ? base(parts.join("/")) : last;
}

function hostOf(address: string): string {
  const url = address.replace(/^[a-z]+\+(?=https?:)/, "");
  return URL.canParse(url) ? new URL(url).hostname : address;
}
