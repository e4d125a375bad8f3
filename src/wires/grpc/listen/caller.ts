import { type CredentialWatch, Fault, isObject, type JsonObject, meta, toFault, withoutCredentials } from "../../../core/index.js";
import { checkCredentials, firstOf, type GateOptions, type Metadata, refusal, type ServerCall, tellRefused } from "../../../io/index.js";
import { header } from "../names.js";

/** Who makes a call, as far as the wire can tell. */
export interface Caller {
  readonly principal: string | undefined;
  /** For a stream that takes more calls later. */
  readonly credentials?: CredentialWatch | undefined;
  readonly metadata: Metadata;
  /** Whether the caller is an Anywire end. */
  readonly kin: boolean;
  /** Whether it may know nothing but the base. */
  readonly base: boolean;
}

/** Whether a request is a modern one. Its client knows the added fields: without them it could not say so. */
export function isModernRequest(params: JsonObject): boolean {
  return isObject(params["_meta"]) && params["_meta"][meta.protocolVersion] !== undefined;
}

/** A call whose Host, Origin and credentials were looked at before it was made. */
export interface AdmittedCall extends ServerCall {
  readonly admitted: { readonly principal: string | undefined; readonly credentials?: CredentialWatch | undefined };
}

/**
 * What may be asked of a call before its messages are looked at: Host, Origin, credentials. Throws the fault it is refused with; waits
 * only where there are credentials to check.
 */
export function callerOf(call: ServerCall | AdmittedCall, options: GateOptions): Caller | Promise<Caller> {
  const metadata = withoutCredentials(call.metadata);
  const kin = metadata[header.twins] !== undefined;
  const base = !kin && metadata[header.fields] === undefined;
  const certified = call.peer.certificate === undefined ? undefined : identity(call.peer.certificate);
  if ("admitted" in call)
    return { principal: call.admitted.principal ?? certified, credentials: call.admitted.credentials, metadata, kin, base };
  const exchange = { hosts: call.hosts, header: (name: string) => firstOf(call.metadata, name) };
  // Nobody but a local process gets to a pipe or a Unix socket.
  const refused = call.peer.address === undefined ? undefined : refusal(exchange, options);
  if (refused !== undefined) throw told(options, new Fault("denied", refused));
  const { auth } = options;
  if (auth === undefined) return { principal: certified, metadata, kin, base };
  return credited(exchange, auth, { metadata, kin, base }).catch((fault) => Promise.reject(told(options, toFault(fault))));
}

function told(options: GateOptions, fault: Fault): Fault {
  tellRefused(options, fault);
  return fault;
}

async function credited(
  exchange: Parameters<typeof checkCredentials>[0],
  auth: NonNullable<GateOptions["auth"]>,
  caller: Omit<Caller, "principal">,
): Promise<Caller> {
  const verdict = await checkCredentials(exchange, auth, undefined);
  if (!("refused" in verdict)) return { principal: verdict.principal.id, credentials: verdict.watch, ...caller };
  if (verdict.refused === "unauthenticated")
    throw new Fault("unauthenticated", "the call needs valid credentials", { data: { challenge: verdict.challenge } });
  throw new Fault("denied", `the call needs the scopes ${auth.scopes?.join(" ") ?? ""}`, { data: { challenge: verdict.challenge } });
}

/** The name in a verified certificate: a URI such as a SPIFFE id before a host before the subject. */
function identity({ uris, names, subject }: NonNullable<ServerCall["peer"]["certificate"]>): string {
  return uris[0] ?? names[0] ?? subject;
}
