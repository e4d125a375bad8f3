import type { LinkTraits } from "../../../era/index.js";

/** The serving side of `mcp.v1`: answers travel in parts, on a stream of their own or on that of the session. */
export const traits: LinkTraits = { ownStream: () => false, inParts: (_method, call) => call?.asked !== false, bytes: false };
