// What a page does with a client; each wire is bundled with it into a script of its own.

/** The names of the tools, the progress of a call and its answer, what a question was answered with, and what a read brought. */
export async function visit(connect, address, wires) {
  const asked = [];
  const elicit = ({ message }) => {
    asked.push(message);
    return { action: "accept", content: { name: "Ada" } };
  };
  const client = await connect(address, { wires, elicit });
  const tools = [];
  for await (const { name } of client.tools()) tools.push(name);
  const steps = [];
  const counted = text(await client.callTool("count", { n: 3 }, { onProgress: ({ message }) => steps.push(message) }));
  const greeted = text(await client.callTool("greet"));
  const failed = await client.callTool("missing").catch(({ code }) => code);
  let bytes = 0;
  let wrong = 0;
  for await (const { data } of client.readChunks("test://big")) {
    for (let at = 0; at < data.length; at += 4099) if (data[at] !== ((bytes + at) & 255)) wrong++;
    bytes += data.length;
  }
  const { era } = client.server;
  await client.close();
  return { era, tools, steps, counted, greeted, asked, failed, bytes, wrong };
}

function text({ content }) {
  return content.map((block) => block.text).join("");
}
