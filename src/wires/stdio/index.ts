export { type ChildLink, type ChildLinkOptions, childLink, type ProcessLinkOptions, processLink } from "../../io/index.js";
export { stdio } from "./stdio.js";
