export { checkTrustedProxy, type TrustedProxyOptions } from "../io/index.js";
export { bridge } from "./bridge.js";
export { type ApiKeysOptions, apiKeys } from "./gate/api-keys.js";
export { isKeyName, newKey } from "./gate/key-lines.js";
export { filterTools, type ToolFilter } from "./layers/filter-tools.js";
export { limitRate, type Rate, type RateLimits } from "./layers/limit-rate.js";
export { type OpsOptions, opsMount } from "./ops/ops-mount.js";
export type {
  Askable,
  Bridge,
  BridgeOptions,
  ListenAt,
  SessionMode,
  UpstreamDialOptions,
  UpstreamState,
  UpstreamStatus,
} from "./types.js";
