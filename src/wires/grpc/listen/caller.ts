import { type CredentialWatch, withoutCredentials } from "../../../core/index.js";
import {
  type CallerVerdict,
  certificateName,
  firstOf,
  foreignFault,
  type GateOptions,
  identify,
  type Metadata,
  refusedCredentials,
  type ServerCall,
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
  const request = { remote: call.peer.address, hosts: call.hosts, header: (name: string) => firstOf(call.metadata, name) };
  // Only local processes can reach a pipe or a Unix socket.
  const foreign = call.peer.address === undefined ? undefined : foreignFault(request, options);
  if (foreign !== undefined) throw foreign;
  const identified = (found: CallerVerdict): RpcCaller => {
    if ("refused" in found) throw refusedCredentials(found);
    const { principal = certified, remote, credentials } = found;
    return claimed(call, { principal, remote, credentials, metadata, isAnywirePeer, base });
  };
  const found = identify(request, options);
  return found instanceof Promise ? found.then(identified) : identified(found);
}

function claimed(call: ServerCall, caller: RpcCaller): RpcCaller {
  if (caller.principal !== undefined) call.claim?.(caller.principal);
  return caller;
}
