// Draws docs/picture.svg: one server, every wire. The wires are those that `any://` serves, so the picture cannot name one that does not exist.
// With --check it writes nothing, and fails if the file is not what it would draw.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createServer, serve } from "anywire";

const file = fileURLToPath(new URL("../docs/picture.svg", import.meta.url));
const names = {
  http: "Streamable HTTP",
  sse: "HTTP+SSE",
  ws: "WebSocket",
  grpc: "gRPC, gRPC-Web, Connect",
  tunnel: "gRPC tunnel",
  tcp: "lines of JSON",
  proto: "proto-mcp",
};

const drawn = draw(await wires());
if (!process.argv.includes("--check")) writeFileSync(file, drawn);
else if (readFileSync(file, "utf8") !== drawn) {
  console.error("docs/picture.svg is out of date. Run `npm run picture`.");
  process.exitCode = 1;
}

/** A name and an address for each wire. The three ways to carry proto-mcp share a row. */
async function wires() {
  const listener = await serve(createServer({ name: "picture", version: "1.0.0" }), "any://127.0.0.1:0");
  const addresses = listener.addresses.map(({ address }) => address.replace(/127\.0\.0\.1:\d+/, "host:8000"));
  await listener.close();
  const rows = new Map([["stdio", { name: "stdio", address: "a command" }]]);
  for (const address of addresses) {
    const scheme = /^(tunnel|sse|proto)\+|^(\w+):/.exec(address);
    const key = scheme[1] ?? scheme[2];
    if (names[key] === undefined) throw new Error(`no name for ${address}`);
    if (!rows.has(key)) rows.set(key, { name: names[key], address: address.replace(/^(sse)\+/, "") });
  }
  return [...rows.values()];
}

function draw(rows) {
  const [width, rowHeight, top] = [880, 44, 52];
  const height = top + rows.length * rowHeight + 16;
  const middle = top + (rows.length * rowHeight) / 2 - 4;
  const wire = ({ name, address }, at) => {
    const y = top + at * rowHeight;
    return `
  <path class="line" d="M 384 ${y + 18} C 430 ${y + 18}, 424 ${middle}, 470 ${middle}"/>
  <rect class="pill" x="16" y="${y}" width="368" height="36" rx="8"/>
  <text class="name" x="30" y="${y + 23}">${name}</text>
  <text class="address" x="370" y="${y + 22}" text-anchor="end">${address}</text>`;
  };
  const box = (x, name, lines, kind) => `
  <rect class="${kind}" x="${x}" y="${middle - 56}" width="170" height="112" rx="12"/>
  <text class="${kind}-title" x="${x + 85}" y="${middle - 14}" text-anchor="middle">${name}</text>${lines
    .map((line, at) => `\n  <text class="${kind}-text" x="${x + 85}" y="${middle + 12 + at * 20}" text-anchor="middle">${line}</text>`)
    .join("")}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Any MCP client reaches any MCP server through Anywire, on every wire of one port">
  <style>
    text { font: 14px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
    .head { font-size: 13px; fill: #59636e; letter-spacing: .04em }
    .name { font-weight: 600 }
    .address { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #59636e }
    .back { fill: #ffffff; stroke: #d1d9e0 }
    .pill, .server { fill: #f6f8fa; stroke: #d1d9e0 }
    .line { fill: none; stroke: #0f766e; stroke-width: 2 }
    .bridge { fill: #0f766e }
    .bridge-title { font-size: 17px; font-weight: 700; fill: #ffffff }
    .bridge-text { font-size: 13px; fill: #d5f5f0 }
    .server-title { font-size: 16px; font-weight: 700 }
    .server-text { font-size: 13px; fill: #59636e }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc }
      .head, .address, .server-text { fill: #9198a1 }
      .back { fill: #0d1117; stroke: #3d444d }
      .pill, .server { fill: #151b23; stroke: #3d444d }
      .line { stroke: #2dd4bf }
      .bridge-title { fill: #ffffff }
      .bridge-text { fill: #d5f5f0 }
    }
  </style>
  <rect class="back" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="14"/>
  <text class="head" x="30" y="34">ANY CLIENT, ON ANY WIRE</text>
  <text class="head" x="779" y="34" text-anchor="middle">ANY SERVER</text>${rows.map(wire).join("")}
  <path class="line" d="M 640 ${middle} H 694"/>${box(470, "anywire bridge", ["one port, every wire", "both eras"], "bridge")}${box(694, "MCP server", ["a command or a URL", "unchanged"], "server")}
</svg>
`;
}
