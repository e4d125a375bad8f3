import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// Writes Python stubs of mcp.v1, or of the proto given last, into a folder: `npm run python-stubs -- FOLDER [PROTOS] [PYTHON] [FILE]`. It takes Python with grpcio-tools, whatever its version:
// older ones do not know `optional` in proto3, so they are given descriptors instead of the text.

const [folder, from = fileURLToPath(new URL("../../proto", import.meta.url)), python = "python3", file = "mcp/v1/mcp.proto"] =
  process.argv.slice(2);
if (folder === undefined) {
  console.error("npm run python-stubs -- FOLDER");
  process.exit(2);
}
const buf = createRequire(import.meta.url).resolve("@bufbuild/buf/bin/buf");
const held = mkdtempSync(join(tmpdir(), "anywire-stubs-"));
try {
  const set = join(held, "mcp.binpb");
  execFileSync(process.execPath, [buf, "build", from, "--as-file-descriptor-set", "-o", set], { stdio: "inherit" });
  mkdirSync(folder, { recursive: true });
  const args = ["protoc", `--descriptor_set_in=${set}`, `--python_out=${folder}`, `--grpc_python_out=${folder}`, file];
  const program = "import json, sys\nfrom grpc_tools import protoc\nsys.exit(protoc.main(json.loads(sys.argv[1])))";
  execFileSync(python, ["-c", program, JSON.stringify(args)], { stdio: "inherit" });
  const made = join(folder, file.replace(/\.proto$/, "_pb2"));
  console.log(`${made}.py\n${made}_grpc.py`);
} finally {
  rmSync(held, { recursive: true, force: true });
}
