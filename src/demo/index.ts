export { type DemoOptions, demoServer } from "./server.js";
export { type TourOptions, tour } from "./tour.js";
export { type WireTourOptions, wireTour } from "./wire-tour.js";
