/** The path of proto-mcp's service, before the method's name. */
export const PROTO = "/buf.mcp.v1.MCPService/";
export const SESSION: string = `${PROTO}Session`;

/** A unary RPC, with the field numbers that its request and response have in an MCPMessage. */
export interface UnaryRpc {
  readonly name: string;
  readonly request: number;
  readonly response: number;
}

export const unaryRpcs: readonly UnaryRpc[] = [
  { name: "Initialize", request: 2, response: 3 },
  { name: "ListTools", request: 4, response: 5 },
  { name: "CallTool", request: 6, response: 7 },
  { name: "ListResources", request: 8, response: 9 },
  { name: "ReadResource", request: 10, response: 11 },
];
