// A client that calls until it is killed: its arguments are the address and, as JSON, the options. It says when its first call was answered.
import { connect } from "../../dist/api/index.js";

const [address, options] = process.argv.slice(2);
const { asks, ...given } = JSON.parse(options);
const answers = asks ? { elicit: ({ message }) => ({ action: "accept", content: { answer: message } }) } : {};
const client = await connect(address, { ...given, ...answers });
process.on("disconnect", () => process.exit(0));
for (let count = 0; ; count++) {
  await client.callTool(asks ? "ask" : "echo", { secret: `killed ${count}` });
  if (count === 0) process.send("ready");
}
