import { Fault } from "../core/index.js";

/** The official client, whose OAuth helpers are used. */
export type Sdk = typeof import("@modelcontextprotocol/client");

/** Loads the official client when it is first needed: it is an optional peer dependency. */
export async function loadSdk(): Promise<Sdk> {
  try {
    return await import("@modelcontextprotocol/client");
  } catch (error) {
    throw new Fault(
      "unauthenticated",
      "signing in needs the package @modelcontextprotocol/client: npm install @modelcontextprotocol/client",
      {
        cause: error,
        data: { reason: "missing-package" },
      },
    );
  }
}
