export { conformanceClient, type Scenario } from "./conformance/client.js";
export { conformanceServer } from "./conformance/server.js";
export { type DemoOptions, demoServer } from "./server.js";
export { type TourOptions, tour } from "./tour.js";
