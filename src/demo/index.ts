export { demoServer } from "./server.js";
export { tour } from "./tour.js";
export { wireTour } from "./wire-tour.js";
