export { type LineLink, type LineLinkOptions, lineLink } from "../../io/index.js";
export { type LinesDialOptions, lines } from "./lines.js";
export { type LinesListenOptions, linesMount } from "./listen.js";
