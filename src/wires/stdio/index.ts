export { type ChildLink, type ChildLinkOptions, childLink } from "./child-link.js";
export { type ProcessLinkOptions, processLink } from "./process-link.js";
export { stdio } from "./stdio.js";
