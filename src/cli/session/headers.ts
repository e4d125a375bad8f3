import type { Options, Target } from "../args/input.js";
import { misuse } from "./mistake.js";

/** Checks for header names, values and tokens. Error messages never show a value, because it may be a secret. */
const name = /^[\w!#$%&'*+.^`|~-]+$/;
const value = /^[\t\x20-\x7e\x80-\xff]*$/;
const token = /^[\x21-\x7e]+$/;

/** The headers from the options for every request, with names in lower case. */
export function headersOf(target: Target, options: Options): Readonly<Record<string, string>> {
  const lines = options.texts("header");
  const variable = options.text("token-env");
  if (typeof target !== "string" && (lines.length > 0 || variable !== undefined))
    throw misuse("--header and --token-env are for a URL, not for a command that is started");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [key, text] = parsed(line);
    headers[key] = Object.hasOwn(headers, key) ? `${headers[key]}, ${text}` : text;
  }
  if (variable === undefined) return headers;
  if (Object.hasOwn(headers, "authorization")) throw misuse("--token-env and --header Authorization both say who calls; give one of them");
  return { ...headers, authorization: `Bearer ${tokenOf(variable)}` };
}

function parsed(line: string): [name: string, value: string] {
  const colon = line.indexOf(":");
  const key = line.slice(0, Math.max(colon, 0)).trim().toLowerCase();
  const text = line.slice(colon + 1).trim();
  if (colon <= 0 || !name.test(key)) throw misuse("--header takes a name, a colon and a value: --header 'X-Team: docs'");
  if (!value.test(text)) throw misuse(`--header ${key}: the value has a character that no header has`);
  return [key, text];
}

function tokenOf(variable: string): string {
  const found = process.env[variable];
  if (found === undefined || found === "") {
    // If the user gave the token itself, it is already in the shell history. It should not get into a log too.
    const shown = /^[A-Z_][A-Z0-9_]*$/i.test(variable) && variable.length <= 64 ? ` ${variable}` : "";
    throw misuse(`--token-env${shown}: no such variable is set; it takes the name of one, not the token`);
  }
  if (!token.test(found)) throw misuse(`--token-env ${variable}: its value has a character that no token has, such as a space`);
  return found;
}
