/** The path of proto-mcp's service; a method's name follows. */
export const PROTO = "/buf.mcp.v1.MCPService/";
export const SESSION: string = `${PROTO}Session`;

/** Unary RPCs: the numbers of the payloads that their request and response are in an MCPMessage. */
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
