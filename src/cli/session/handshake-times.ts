import { defaultTimeouts } from "../../core/index.js";

/** How long the server may take to start. At least half of that is left for the legacy handshake, after a probe without an answer. */
export function handshakeTimes(timeout: number | undefined): { readonly handshakeMs: number; readonly probeMs: number } {
  const handshakeMs = timeout ?? defaultTimeouts.handshakeMs;
  return { handshakeMs, probeMs: Math.min(defaultTimeouts.commandProbeMs, handshakeMs / 2) };
}
