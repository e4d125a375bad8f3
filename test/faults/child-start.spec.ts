import { chmod, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { connect } from "../../src/api/index.js";
import type { Command } from "../../src/core/index.js";
import { startChild } from "../../src/io/index.js";
import { childLink } from "../../src/wires/stdio/index.js";
import { fixture, messages, note } from "../fixtures/children/index.js";

let folder: string;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "anywire-")));
});
afterAll(() => rm(folder, { recursive: true }));

async function shown(command: Command): Promise<{ args: string[]; env: Record<string, string>; cwd: string }> {
  const link = await childLink(command);
  try {
    return (await note(messages(link))) as never;
  } finally {
    await link.close();
  }
}

test("38: a secret in the parent's environment does not reach a child unless it is allowed", async () => {
  vi.stubEnv("ANYWIRE_TEST_SECRET", "s3cret");
  vi.stubEnv("LC_ANYWIRE", "C");
  vi.stubEnv("TZ", "() { :; }; echo pwned");
  try {
    const { env } = await shown(fixture("show.mjs"));
    expect(env["PATH"]).toBe(process.env["PATH"]);
    expect(env["LC_ANYWIRE"]).toBe("C");
    expect(env).not.toHaveProperty("TZ");
    expect(JSON.stringify(env)).not.toContain("s3cret");
    const allowed = await shown({ ...fixture("show.mjs"), inherit: ["ANYWIRE_TEST_SECRET"], env: { OWN: "1", LC_ANYWIRE: "D" } });
    expect(allowed.env).toMatchObject({ ANYWIRE_TEST_SECRET: "s3cret", OWN: "1", LC_ANYWIRE: "D" });
  } finally {
    vi.unstubAllEnvs();
  }
});

test("34: no shell reads a command or its arguments", async () => {
  const args = ["$HOME", "`id`", "; exit 1", "a b", "*", "'\"", "&& false", "$(touch pwned)", ""];
  expect((await shown({ ...fixture("show.mjs", ...args), cwd: folder })).args).toEqual(args);
  await expect(startChild({ command: "node --version" })).rejects.toMatchObject({ data: { reason: "not-found" } });
  await expect(startChild({ command: "true; true" })).rejects.toMatchObject({ data: { reason: "not-found" } });
});

test("a child runs in the directory it is given", async () => {
  expect((await shown({ ...fixture("show.mjs"), cwd: folder })).cwd).toBe(folder);
});

test("a command that cannot be started says why, and quotes no argument", async () => {
  const file = join(folder, "plain");
  await writeFile(file, "#!/nowhere/interpreter\n");
  const rows: [Command, string, string][] = [
    [{ command: "anywire-no-such" }, "cannot start `anywire-no-such`: command not found", "not-found"],
    [{ command: file }, `cannot start \`${file}\`: permission denied, it is not executable`, "not-executable"],
    [{ command: "node", cwd: "/no/such" }, "cannot start `node`: the directory `/no/such` does not exist", "bad-directory"],
    [{ command: "node", cwd: file }, `cannot start \`node\`: the directory \`${file}\` is not a directory`, "bad-directory"],
    [{ command: "node", args: ["\0"] }, "cannot start `node`: the system refused (ERR_INVALID_ARG_VALUE)", "not-started"],
  ];
  for (const [command, message, reason] of rows) {
    const fault = await startChild({ args: ["s3cret"], ...command }).catch((error: unknown) => error);
    expect(fault).toMatchObject({ name: "Fault", code: "unavailable", message, data: { reason } });
    expect(fault).not.toHaveProperty("cause");
  }
  await chmod(file, 0o755);
  await expect(startChild({ command: file })).rejects.toThrow("its interpreter was not found");
});

/** A server that says why it cannot run, counts its starts, and ends as the script says. */
async function starts(name: string, ending: string): Promise<{ lines: string[]; count(): Promise<number>; outcome: Promise<unknown> }> {
  const [script, log] = [join(folder, `${name}.mjs`), join(folder, `${name}.log`)];
  const head = `import { appendFileSync, readFileSync } from "node:fs";\nappendFileSync(${JSON.stringify(log)}, "x");\n`;
  await writeFile(script, `${head}const nth = readFileSync(${JSON.stringify(log)}).length;\nconsole.error("no key given");\n${ending}\n`);
  const lines: string[] = [];
  const outcome = connect({ command: process.execPath, args: [script] }, { onStderr: (line) => void lines.push(line) }).then(
    () => "connected",
    (fault: unknown) => fault,
  );
  return { lines, count: async () => (await readFile(log)).length, outcome };
}

test("a server that ends the same way when it is not probed says so once", async () => {
  const { lines, count, outcome } = await starts("broken", "process.exit(3);");
  expect(await outcome).toMatchObject({
    code: "unavailable",
    message: "the server exited with code 3",
    data: { reason: "exited", code: 3 },
  });
  expect(await count()).toBe(2);
  await vi.waitFor(() => expect(lines).toEqual(["no key given"]));
});

test("a server that ends another way the second time is heard both times", async () => {
  const { lines, outcome } = await starts("fickle", "process.exit(nth + 3);");
  expect(await outcome).toMatchObject({ message: "the server exited with code 5", data: { code: 5 } });
  await vi.waitFor(() => expect(lines).toEqual(["no key given", "no key given"]));
});
