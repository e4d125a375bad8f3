import { type CredentialWatch, Fault, toFault, withoutCredentials } from "../../../core/index.js";
import {
  certificateName,
  checkCredentials,
  firstOf,
  forwardedBy,
  type GateOptions,
  type Metadata,
  refusal,
  refusedCredentials,
  type ServerCall,
  tellRefused,
} from "../../../io/index.js";
import { header } from "../names.js";

/** Who makes a call, as far as the wire knows. */
export interface RpcCaller {
  readonly principal: string | undefined;
  /** The address that it calls from. */
  readonly remote: string | undefined;
  /** For a stream that may bring more calls later. */
  readonly credentials?: CredentialWatch | undefined;
  readonly metadata: Metadata;
  /** Whether the caller is an Anywire end. */
  readonly isAnywirePeer: boolean;
  /** Whether it may know only the base service. */
  readonly base: boolean;
}

/** A call whose Host, Origin and credentials were already checked. */
export interface AdmittedCall extends ServerCall {
  readonly admitted: {
    readonly remote: string | undefined;
    readonly principal: string | undefined;
    readonly credentials?: CredentialWatch | undefined;
  };
}

/**
 * Checks Host, Origin and credentials before the messages of a call are read. Throws the fault of a refusal. Returns a promise only if
 * there are credentials to check.
 */
export function callerOf(call: ServerCall | AdmittedCall, options: GateOptions): RpcCaller | Promise<RpcCaller> {
  const metadata = withoutCredentials(call.metadata);
  const isAnywirePeer = metadata[header.twins] !== undefined;
  const base = !isAnywirePeer && metadata[header.fields] === undefined;
  const certified = call.peer.certificate === undefined ? undefined : certificateName(call.peer.certificate);
  if ("admitted" in call) {
    const { principal = certified, remote, credentials } = call.admitted;
    return { principal, remote, credentials, metadata, isAnywirePeer, base };
  }
  const exchange = { remote: call.peer.address, hosts: call.hosts, header: (name: string) => firstOf(call.metadata, name) };
  // Only local processes can reach a pipe or a Unix socket.
  const refused = call.peer.address === undefined ? undefined : refusal(exchange, options);
  if (refused !== undefined) throw told(options, new Fault("denied", refused));
  const { auth } = options;
  const { remote, user } = forwardedBy(exchange, options.trustedProxy);
  if (auth === undefined || user !== undefined)
    return claimed(call, { principal: user ?? certified, remote, metadata, isAnywirePeer, base });
  return credited(exchange, auth, { remote, metadata, isAnywirePeer, base }).then(
    (caller) => claimed(call, caller),
    (fault) => Promise.reject(told(options, toFault(fault))),
  );
}

function claimed(call: ServerCall, caller: RpcCaller): RpcCaller {
  if (caller.principal !== undefined) call.claim?.(caller.principal);
  return caller;
}

function told(options: GateOptions, fault: Fault): Fault {
  tellRefused(options, fault);
  return fault;
}

async function credited(
  exchange: Parameters<typeof checkCredentials>[0],
  auth: NonNullable<GateOptions["auth"]>,
  caller: Omit<RpcCaller, "principal">,
): Promise<RpcCaller> {
  const verdict = await checkCredentials(exchange, auth, undefined);
  if (!("refused" in verdict)) return { principal: verdict.principal.id, credentials: verdict.watch, ...caller };
  throw refusedCredentials(verdict, auth);
}
