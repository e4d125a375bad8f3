import { defineConfig } from "vitepress";

const page = (text, link) => ({ text, link: `/docs/${link}` });

export default defineConfig({
  title: "Anywire",
  description: "Connect any MCP client to any MCP server, on any wire.",
  srcDir: "../.cache/site",
  outDir: "../docs/.vitepress/dist",
  cacheDir: "../.cache/vitepress",
  rewrites: { "README.md": "index.md", "docs/decisions/README.md": "docs/decisions/index.md" },
  // Links to files that are not pages are links into the repository.
  ignoreDeadLinks: [/LICENSE$/, /\.proto$/],
  markdown: { languageAlias: { haproxy: "nginx", caddyfile: "nginx" } },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      page("Recipes", "recipes"),
      page("Command", "guide/cli"),
      { text: "API", link: "/api/" },
      { text: "Changelog", link: "/CHANGELOG" },
    ],
    sidebar: [
      {
        text: "Start",
        items: [
          { text: "Overview", link: "/" },
          page("Recipes and questions", "recipes"),
          page("Troubleshooting", "troubleshooting"),
          { text: "Examples", link: "/examples/README" },
        ],
      },
      {
        text: "Command",
        items: [
          page("Guide", "guide/cli"),
          page("Bridge", "guide/bridge"),
          page("Running a bridge", "guide/operate"),
          page("Switching", "guide/switching"),
          page("Signing in", "guide/oauth"),
          page("gRPC behind a proxy", "guide/proxies"),
        ],
      },
      {
        text: "Library",
        items: [
          page("Server", "guide/server"),
          page("Client", "guide/client"),
          page("Official SDK", "guide/sdk"),
          page("Observers", "guide/observe"),
          page("proto-mcp", "guide/proto-mcp"),
          page("In a page", "guide/browser"),
          page("Python, Go and others", "guide/peers"),
          page("Runtimes", "runtimes"),
          page("A wire of your own", "guide/custom-wire"),
          { text: "API reference", link: "/api/" },
        ],
      },
      {
        text: "Wires",
        items: [
          page("Choosing", "choosing"),
          ...["stdio", "http", "sse", "websocket", "grpc", "lines", "proto-mcp", "http-stdio"].map((name) => page(name, `wires/${name}`)),
        ],
      },
      {
        text: "Reference",
        items: [
          page("Errors", "faults"),
          page("Failures and their tests", "fault-matrix"),
          page("Limits", "limits"),
          page("Security", "security"),
          page("What a bridge changes", "relay"),
          page("Schemas", "schemas"),
          page("mcp.v1", "mapping/mcp-v1"),
          page("buf.mcp.v1", "mapping/buf-mcp-v1"),
          page("Benchmarks", "benchmarks"),
        ],
      },
      {
        text: "Project",
        items: [
          page("Architecture", "architecture"),
          page("Decisions", "decisions/"),
          page("Long tests", "testing"),
          { text: "Contributing", link: "/CONTRIBUTING" },
          { text: "Security policy", link: "/SECURITY" },
        ],
      },
    ],
  },
});
