export { type Exit, startChild } from "./child.js";
export { type ChildLink, type ChildLinkOptions, childLink } from "./child-link.js";

export { exitFault } from "./exit-fault.js";
export type { FrameReader, Framing } from "./framing.js";
export { grpcChannel } from "./grpc/channel.js";
export { decompress, type MessageCoding } from "./grpc/coding.js";
export { tooLarge } from "./grpc/deframer.js";
export { Inbox } from "./grpc/inbox.js";
export { firstOf, receivedMetadata } from "./grpc/metadata.js";
export { certificateName, peerOf } from "./grpc/peer.js";
export { grpcServer, isGrpc } from "./grpc/server.js";
export { faultStatus, statusFault } from "./grpc/status.js";
export type {
  Channel,
  ClientCall,
  GrpcChannelOptions,
  GrpcPeer,
  GrpcServer,
  GrpcServerOptions,
  GrpcTarget,
  Keepalive,
  Metadata,
  ReceivedMessages,
  ServerCall,
  Status,
} from "./grpc/types.js";
export { authorized, type Challenge, type HttpAuth } from "./http/authorized.js";
export {
  type AuthOptions,
  METADATA_PATH,
  type Principal,
  refusedCredentials,
} from "./http/credentials.js";
export { endUpload } from "./http/end-upload.js";
export type { Exchange, Outlet } from "./http/exchange.js";
export { fetchExchange } from "./http/fetch-exchange.js";
export {
  type Admission,
  admit,
  type CallerVerdict,
  foreignFault,
  type GateOptions,
  identify,
  tellRefused,
  whileValid,
} from "./http/gate.js";
export { corsHeaders, type GuardOptions, noHeaders } from "./http/guard.js";
export { nodeExchange } from "./http/node-exchange.js";
export { type HttpClient, type HttpSendOptions, httpClient } from "./http/request.js";
export type { Sent } from "./http/sent.js";
export { streamClient } from "./http/stream-client.js";
export { checkTrustedProxy, type TrustedProxyOptions } from "./http/trusted-proxy.js";
export { type LineLink, type LineLinkOptions, lineLink } from "./line-link.js";
export { makeFolder } from "./make-folder.js";
export { boundPort } from "./port/carrier.js";
export { type Detect, firstByte, isJsonLines } from "./port/detect.js";
export type { Bound, ByteMount, Mount, NodeRequest, NodeResponse } from "./port/mount.js";
export { localHosts, placeOf, unixPath } from "./port/place.js";
export { noCredentials, type PortOptions, port, portListener } from "./port/port.js";
export { pipesSocket } from "./port/standard-streams.js";
export { listenOnStdio } from "./port/stdio-port.js";
export { type ProcessLinkOptions, processLink } from "./process-link.js";
export { answersProbes } from "./protomcp/answer-probes.js";
export { greet, NoProto } from "./protomcp/greet.js";
export { admitByToken, checksTokens, credentialsIn } from "./protomcp/tokens.js";
export { endThenDestroy } from "./socket/end-then-destroy.js";
export { openSocketLink } from "./socket/open.js";
export { type OnPartial, type ServedSocketOptions, servedSocketLink } from "./socket/served.js";
export { signsOfLife } from "./socket/signs-of-life.js";
export {
  checkListen,
  isLoopback,
  noCertificate,
  type Pem,
  type SecureListenOptions,
  secureContext,
  type TlsDialOptions,
} from "./tls.js";
export { badAddress, whyUnreached } from "./unreached.js";
