import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import type { GrpcPeer, PeerCertificateFacts } from "./types.js";

/** The peer of a connection: of an HTTP/2 session, or of an HTTP/1.1 request. */
export function peerOf(connected: { readonly socket: unknown; readonly destroyed?: boolean } | undefined): GrpcPeer {
  if (connected === undefined || connected.destroyed === true) return {};
  const socket = connected.socket as Partial<TLSSocket> | undefined;
  if (socket === undefined) return {};
  const certificate = socket.authorized === true ? factsOf(socket.getPeerCertificate?.(true)) : undefined;
  return { address: socket.remoteAddress, certificate };
}

/** The name in a verified certificate: a URI such as a SPIFFE id, else a host, else the subject. */
export function certificateName({ uris, names, subject }: PeerCertificateFacts): string {
  return uris[0] ?? names[0] ?? subject;
}

function factsOf(certificate: DetailedPeerCertificate | undefined): PeerCertificateFacts | undefined {
  if (certificate === undefined || typeof certificate.fingerprint256 !== "string") return undefined;
  const alternatives = splitNames(certificate.subjectaltname ?? "");
  const of = (kind: string): string[] => alternatives.filter((name) => name.startsWith(kind)).map((name) => name.slice(kind.length));
  const subject = Object.entries(certificate.subject ?? {}).flatMap(([key, value]) => [value].flat().map((each) => `${key}=${each}`));
  return { subject: subject.join(", "), uris: of("URI:"), names: of("DNS:"), fingerprint256: certificate.fingerprint256 };
}

/** Node writes names that contain a comma or a quote as JSON strings, so that nobody can smuggle in a second name. */
function splitNames(text: string): string[] {
  return [...text.matchAll(/([A-Za-z ]+:)(?:"((?:[^"\\]|\\.)*)"|([^,]*))(?:, |$)/g)].map(
    ([, kind, quoted, plain]) => `${kind}${quoted === undefined ? plain : JSON.parse(`"${quoted}"`)}`,
  );
}
