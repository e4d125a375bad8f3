export { type JsonLogOptions, jsonLog, type LogEvent } from "./json-log.js";
export { type Metrics, type MetricsOptions, metrics, type Reading } from "./metrics.js";
export { durationBounds } from "./series.js";
