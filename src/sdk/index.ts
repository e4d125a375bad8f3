export { type ClientTransportOptions, clientTransport } from "./client-transport.js";
export { GrpcClientTransport, GrpcServerTransport, type GrpcServerTransportOptions } from "./grpc.js";
export { type SdkService, type SdkServiceOptions, sdkService } from "./sdk-service.js";
export { type ServeSdkOptions, serveSdk } from "./serve-sdk.js";
export type {
  SdkAuthInfo,
  SdkExtra,
  SdkMessage,
  SdkSendOptions,
  SdkServer,
  SdkServerContext,
  SdkServerFactory,
  SdkTransport,
} from "./types.js";
