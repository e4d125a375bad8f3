export type { GrpcDialOptions } from "./dial/options.js";
export { grpc } from "./grpc.js";
export { type GrpcMountOptions, grpcMount } from "./listen/listen.js";
export type { GrpcListenOptions } from "./listen/options.js";
