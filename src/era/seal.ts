import { Fault, isObject, jsonText, KEPT_STATE, type Request } from "../core/index.js";
import { decodeBase64, encodeBase64 } from "../stream/index.js";

/** What a sealed state stands for: a call that is kept here, or a state that the service behind this edge returned. */
export type Sealed = { readonly call: string; readonly until: number } | { readonly state: string };

/**
 * Seals what a client carries from one request to its retry. Only the maker can read it back, for the same principal and request, in time.
 */
export interface Seal {
  /** Whether this seal made a `requestState`, judged by its mark alone. */
  mine(state: string): Promise<boolean>;
  close(sealed: Sealed, request: Request, principal: string | undefined): Promise<string>;
  /**
   * Returns what the state stands for. Throws a Fault `invalid-params` if it was tampered with, has expired, or belongs to another
   * principal or another request than `request`, if given.
   */
  open(state: string, request: Request | undefined, principal: string | undefined): Promise<Sealed>;
}

/** The fault of a state that is not accepted. */
export function badState(why: string): Fault {
  return new Fault("invalid-params", `the requestState is not valid: ${why}`);
}

const utf8 = new TextEncoder();
const text = (bytes: Uint8Array): string => encodeBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const bytes = (encoded: string): Uint8Array => {
  const plain = encoded.replaceAll("-", "+").replaceAll("_", "/");
  return decodeBase64(plain + "=".repeat((4 - (plain.length % 4)) % 4));
};

/** 128 random bits as text. */
export function randomToken(): string {
  return text(crypto.getRandomValues(new Uint8Array(16)));
}

/** The least number of bytes of a key. */
const KEY_BYTES = 32;
const hmac = { name: "HMAC", hash: "SHA-256" } as const;

/**
 * Makes a seal. With a key, every process that has the same key can read its states. Without one, the key is random and lives as long as
 * the process.
 */
export function seal(given?: string | Uint8Array): Seal {
  const secret = typeof given === "string" ? utf8.encode(given) : given;
  if (secret !== undefined && secret.length < KEY_BYTES)
    throw new Fault("invalid-params", `sealKey has ${secret.length} bytes; it needs at least ${KEY_BYTES}, made at random`);
  const raw = secret === undefined ? crypto.getRandomValues(new Uint8Array(KEY_BYTES)) : new Uint8Array(secret);
  const key = crypto.subtle.importKey("raw", raw, hmac, false, ["sign", "verify"]);
  const marked = secret === undefined ? Promise.resolve(randomToken()) : key.then(nameOf);
  const making = marked.then((name) => `${KEPT_STATE}${name}.`);

  return {
    mine: async (state) => state.startsWith(await making),
    async close(sealed, request, principal) {
      const body = utf8.encode(JSON.stringify({ ...sealed, principal, digest: await digest(request) }));
      const signature = await crypto.subtle.sign("HMAC", await key, body);
      return `${await making}${text(body)}.${text(new Uint8Array(signature))}`;
    },
    async open(state, request, principal) {
      const mark = await making;
      const [body, signature] = state.slice(mark.length).split(".").map(decodeOr);
      if (body === undefined || signature === undefined) throw badState("it is damaged");
      if (!(await crypto.subtle.verify("HMAC", await key, signature, body))) throw badState("its signature does not match");
      const content: unknown = JSON.parse(new TextDecoder().decode(body));
      if (!isObject(content)) throw badState("it is damaged");
      if (content["principal"] !== principal) throw badState("it was given to another caller");
      if (typeof content["until"] === "number" && content["until"] < Date.now()) throw badState("it has expired");
      if (request !== undefined && content["digest"] !== (await digest(request))) throw badState("it belongs to another request");
      return content as object as Sealed;
    },
  };
}

/** The prefix of the states of a key. It tells keys apart and reveals nothing about the key. */
async function nameOf(key: CryptoKey): Promise<string> {
  return text(new Uint8Array(await crypto.subtle.sign("HMAC", key, utf8.encode("the name of this key"))).subarray(0, 16));
}

function decodeOr(part: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return new Uint8Array(bytes(part));
  } catch {
    return undefined;
  }
}

/** A digest of a request without the members that a retry adds or renews. */
async function digest(request: Request): Promise<string> {
  const { inputResponses, requestState, _meta, ...params } = request.params;
  const named = canonical({ method: request.method, params });
  return text(new Uint8Array(await crypto.subtle.digest("SHA-256", utf8.encode(named))));
}

/** JSON with sorted keys: a client may write its members in another order when it retries. */
function canonical(value: unknown): string {
  return jsonText(value, (_key, member: unknown) =>
    isObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  );
}
