export { MCPService as ProtoMcpService } from "./buf/mcp/v1/mcp_pb.js";
export {
  Health,
  HealthCheckRequestSchema,
  type HealthCheckResponse,
  HealthCheckResponse_ServingStatus,
  HealthCheckResponseSchema,
  HealthListRequestSchema,
  HealthListResponseSchema,
} from "./grpc/health/v1/health_pb.js";
export {
  ServerReflection,
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
} from "./grpc/reflection/v1/reflection_pb.js";
export { ServerReflection as ServerReflectionAlpha } from "./grpc/reflection/v1alpha/reflection_pb.js";
export { McpService } from "./mcp/v1/mcp_pb.js";
export { MCP } from "./mcp_tunnel_pb.js";
