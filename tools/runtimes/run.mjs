// Every wire on every runtime, as client and as server; the other side is the Node that runs this. Prints a table in Markdown.
// `npm run runtimes -- bun deno` takes only these; cells that passed with the same build are not run again, unless with `--fresh`.
// `--write` puts the table into docs/runtimes.md.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";
import { installed, remembered, runtimes } from "./install.mjs";
import { unsupported } from "./unsupported.mjs";

const CELL_MS = 45_000;
const subject = fileURLToPath(new URL("subject.mjs", import.meta.url));
const dist = fileURLToPath(new URL("../../dist/", import.meta.url));
const page = fileURLToPath(new URL("../../docs/runtimes.md", import.meta.url));
const sockets = mkdtempSync(join(tmpdir(), "anywire-runtimes-"));
const reference = { command: process.execPath, flags: [] };

const plain = ["http", "sse+http", "ws", "grpc", "tunnel+grpc", "tcp", "proto+tcp", "proto+ws", "proto+grpc"];
const secure = ["https", "sse+https", "wss", "grpcs", "tls", "proto+tls"];
const network = [...plain, ...secure];
const local = ["unix", "http+unix", "grpc+unix", "proto+unix"];
const standard = ["stdio", "http+stdio", "grpc+stdio", "proto+stdio"];
const wires = [...network, ...local, ...standard];

const { module: certificates } = await runnerImport(fileURLToPath(new URL("../../test/fixtures/certificates.ts", import.meta.url)));
const issuer = certificates.authority();
writeFileSync(join(sockets, "tls.json"), JSON.stringify({ ...issuer.issue("127.0.0.1"), ca: issuer.cert }));

const args = process.argv.slice(2);
const wanted = args.filter((arg) => !arg.startsWith("--"));
const chosen = runtimes.filter(
  ({ name }) => wanted.length === 0 || wanted.some((word) => name.toLowerCase().replace(" ", "").includes(word)),
);
const digest = createHash("sha256");
for (const file of readdirSync(dist, { recursive: true }).sort()) if (file.endsWith(".js")) digest.update(readFileSync(join(dist, file)));
digest.update(readFileSync(subject));
const { results, save } = remembered(args.includes("--fresh") ? "" : digest.digest("hex"));

try {
  for (const runtime of chosen) {
    let command;
    try {
      command = installed(runtime);
    } catch (error) {
      results[runtime.name] = { missing: error.message };
      continue;
    }
    const cells = (results[runtime.name] ??= {});
    delete cells.missing;
    for (const wire of wires) {
      for (const side of ["client", "server"]) {
        const key = `${wire} ${side}`;
        if (cells[key] === "ok" || `${runtime.name} ${key}` in unsupported) continue;
        cells[key] = side === "client" ? await cell(wire, reference, command) : await cell(wire, command, reference);
        save();
        process.stdout.write(`${runtime.name} ${key}: ${cells[key]}\n`);
      }
    }
  }
  process.exitCode = report() ? 0 : 1;
} finally {
  rmSync(sockets, { recursive: true, force: true });
}

/** Serves with one command, calls with the other: `ok`, or why not. */
async function cell(wire, server, client) {
  if (standard.includes(wire)) {
    const to = {
      command: server.command,
      args: [...server.flags, subject, "server", `${wire}:`],
      ...(wire !== "stdio" && { speaks: wire }),
    };
    return (await run(client, ["client", JSON.stringify(to)])).said;
  }
  const address = network.includes(wire) ? `${wire}://127.0.0.1:0` : `${wire}:${join(sockets, `${wire}.sock`)}`;
  const started = start(server, ["server", address]);
  const at = await Promise.race([started.line, started.exited.then(() => undefined)]);
  try {
    return at === undefined
      ? `the server does not start: ${started.errors().trim().split("\n").at(-1)}`
      : (await run(client, ["client", at])).said;
  } finally {
    started.child.stdin.end();
    await started.exited;
  }
}

async function run(command, more) {
  const { child, line, exited, errors } = start(command, more);
  child.stdin.end();
  const said = await Promise.race([line, exited.then(() => undefined)]);
  await exited;
  return { said: said ?? `the client ended: ${errors().trim().split("\n").at(-1) || "without a word"}` };
}

function start({ command, flags }, more) {
  const env = { ...process.env, TLS_FILE: join(sockets, "tls.json") };
  const child = spawn(command, [...flags, subject, ...more], { stdio: ["pipe", "pipe", "pipe"], env });
  const timer = setTimeout(() => child.kill("SIGKILL"), CELL_MS);
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors = (errors + chunk).slice(-4096);
  });
  child.stdin.on("error", () => {});
  const line = new Promise((resolve) => {
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk;
      if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")));
    });
  });
  const exited = new Promise((resolve) => {
    child.once("error", resolve);
    child.once("close", resolve);
  }).then(() => clearTimeout(timer));
  return { child, line, exited, errors: () => errors };
}

/** Prints the table, and with `--write` puts it into the docs; whether each cell works, or is named as one that does not. */
function report() {
  const notes = [];
  let fine = true;
  const mark = (name, wire, side, said) => {
    const why = unsupported[`${name} ${wire} ${side}`];
    if (why === undefined && said === "ok") return side;
    if (why === undefined) {
      fine = false;
      return `**${side} fails**: ${said}`;
    }
    if (!notes.includes(why)) notes.push(why);
    return `no ${side} [${notes.indexOf(why) + 1}]`;
  };
  const shown = ({ name }, wire) => {
    const { missing, ...cells } = results[name];
    if (missing === undefined) return ["client", "server"].map((side) => mark(name, wire, side, cells[`${wire} ${side}`])).join(", ");
    fine = false;
    return missing;
  };
  const rows = [
    ["wire", ...chosen.map(({ name, version }) => `${name} (${version})`)],
    ["---", ...chosen.map(() => "---")],
    ...wires.map((wire) => [`\`${wire}:\``, ...chosen.map((runtime) => shown(runtime, wire))]),
  ];
  const table = `${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}\n${notes.map((note, at) => `\n[${at + 1}] ${note}\n`).join("")}`;
  process.stdout.write(`\n${table}`);
  if (args.includes("--write") && fine && chosen.length === runtimes.length) {
    const text = readFileSync(page, "utf8");
    writeFileSync(
      page,
      text.replace(/(<!-- table -->\n)[\s\S]*(<!-- end -->)/, (_, before, after) => `${before}${table}${after}`),
    );
  }
  return fine;
}
