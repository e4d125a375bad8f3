import type { Fault } from "../../api/index.js";
import { isObject } from "../../core/index.js";
import { misuse } from "./mistake.js";

const wanted = (credentials: string): Readonly<Record<string, string>> => ({
  "no-certificate": "give --tls-cert and --tls-key",
  insecure: "give --tls-cert and --tls-key, or --insecure if a proxy in front does it",
  anonymous: `pass ${credentials}, or --insecure if you want that`,
});

/**
 * A fault of listening, in which what the library asks for is replaced by the options of the command. `credentials`: its options that let
 * in only some clients.
 */
export function inOptions(fault: Fault, credentials: string): Fault {
  const ask = isObject(fault.data) ? wanted(credentials)[String(fault.data["reason"])] : undefined;
  // Wrong PEM files, and an address that has no TLS.
  if (fault.code === "invalid-params" && /\btls\b/i.test(fault.message) && ask === undefined) return misuse(fault.message);
  return ask === undefined ? fault : misuse(fault.message.replace(/(give|pass) .*$/, ask));
}
