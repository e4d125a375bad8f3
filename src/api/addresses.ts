import { type Address, Fault } from "../core/index.js";

/** An example call for each function, and the address that a host and port probably mean. */
const uses = {
  serve: { like: 'serve(server, "http://127.0.0.1:8000/mcp")', meant: (host: string) => `any://${host}` },
  connect: { like: 'connect("http://127.0.0.1:8000/mcp")', meant: (host: string) => `http://${host}/mcp` },
} as const;

/** The given address, or a Fault that says what to write instead. */
export function checkedAddress(given: unknown, use: keyof typeof uses): Address {
  const { like, meant } = uses[use];
  const fault = (what: string): Fault => new Fault("invalid-params", `${use} needs an address${what}`);
  if (given instanceof URL) return given.href;
  const host = hostOf(given);
  if (host !== undefined) throw fault(` with a scheme: for ${JSON.stringify(given)} write ${JSON.stringify(meant(host))}`);
  if (typeof given === "string") return given;
  if (isCommand(given)) return given;
  if (typeof given === "object" && given !== null) throw fault(": a text, or { command, args }");
  throw fault(`, such as ${like}`);
}

function isCommand(given: unknown): given is Exclude<Address, string> {
  return typeof given === "object" && given !== null && "command" in given && typeof given.command === "string";
}

/** The host and port that were given in place of an address. */
function hostOf(given: unknown): string | undefined {
  if (typeof given === "number") return `127.0.0.1:${given}`;
  if (typeof given !== "string") return undefined;
  if (/^:?\d{1,5}$/.test(given)) return `127.0.0.1:${given.replace(":", "")}`;
  return /^(\[[\da-f:]+\]|[\w.-]+):\d{1,5}$/i.test(given) ? given : undefined;
}
