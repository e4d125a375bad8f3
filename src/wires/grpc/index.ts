export type { GrpcDialOptions } from "./dial/options.js";
export { grpc } from "./grpc.js";
export type { GrpcListenOptions } from "./listen/options.js";
