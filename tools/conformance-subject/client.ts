import { type ConnectOptions, connect, type ElicitParams, type ElicitResult, type JsonObject, type McpClient } from "anywire";
import { conformanceAuth } from "./auth.js";
import { exampleOf } from "./example.js";

/** What the suite tells the client that it starts. */
export interface Scenario {
  readonly name: string;
  readonly url: string;
  /** The revision to speak. */
  readonly version: string;
  /** What this scenario gives besides. */
  readonly context: JsonObject;
}

/** Answers a form with its defaults, and with an example of whatever has none. */
function fillIn({ requestedSchema = {} }: ElicitParams): ElicitResult {
  return { action: "accept", content: exampleOf(requestedSchema) as JsonObject };
}

const options: ConnectOptions = {
  elicit: fillIn,
  sample: () => ({ role: "assistant", content: { type: "text", text: "An answer" }, model: "none", stopReason: "endTurn" }),
  roots: [{ uri: "file:///tmp", name: "tmp" }],
  onFault: (fault) => process.stderr.write(`${fault.code}: ${fault.message}\n`),
};

/** Calls every tool that is listed, with the arguments of the scenario or made-up ones. */
async function callTools(client: McpClient, { context }: Scenario): Promise<void> {
  const given = (Array.isArray(context["toolCalls"]) ? context["toolCalls"] : []) as { name: string; arguments: JsonObject }[];
  for await (const { name, inputSchema } of client.tools()) {
    const call = given.find((each) => each.name === name);
    await client.callTool(name, call?.arguments ?? (exampleOf(inputSchema) as JsonObject));
  }
}

/** Uses all that the server lists. */
async function useAll(client: McpClient, scenario: Scenario): Promise<void> {
  await callTools(client, scenario);
  for await (const { uri } of client.resources()) await client.readResource(uri);
  for await (const { name, arguments: args = [] } of client.prompts())
    await client.getPrompt(name, Object.fromEntries(args.map((argument) => [argument.name, "anything"])));
}

/** Hands the schema of one tool back through another, as it came. */
async function handBack(client: McpClient): Promise<void> {
  const { tools } = await client.listTools();
  const schema = tools.find(({ name }) => name === "json_schema_2020_12_tool")?.inputSchema;
  await client.callTool("json_schema_echo", { schema });
}

/** Calls all the tools at once, so that what belongs to one call could end up in another. */
async function callAtOnce(client: McpClient): Promise<void> {
  const { tools } = await client.listTools();
  await Promise.all(tools.map(({ name }) => client.callTool(name, {})));
}

const ways: Readonly<Record<string, (client: McpClient, scenario: Scenario) => Promise<void>>> = {
  "http-standard-headers": useAll,
  "json-schema-2020-12-preservation": handBack,
  "json-schema-ref-no-deref": async (client) => void (await client.listTools()),
  "sep-2322-client-request-state": callAtOnce,
};

/** Does what a scenario of the official conformance suite expects of a client; what is not said otherwise is that it calls the tools it finds. */
export async function conformanceClient(scenario: Scenario): Promise<void> {
  const era = scenario.version >= "2026-07-28" ? "modern" : "legacy";
  const auth = scenario.name.startsWith("auth/") ? await conformanceAuth(scenario) : undefined;
  await using client = await connect(scenario.url, { ...options, era, ...(auth === undefined ? undefined : { auth }) });
  await (ways[scenario.name] ?? callTools)(client, scenario);
}
