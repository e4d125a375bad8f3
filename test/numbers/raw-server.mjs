// A legacy server that knows nothing of Anywire and never parses a number: it takes lines apart as text, and tells what it heard.
import { createInterface } from "node:readline";

const odd = process.argv[2];
const heard = [];
const say = (text) => process.stdout.write(`${text}\n`);

createInterface({ input: process.stdin }).on("line", (line) => {
  const id = /"id":("[^"]*"|-?\d+)/.exec(line)?.[1];
  const method = /"method":"([^"]*)"/.exec(line)?.[1];
  heard.push(line);
  const result = (value) => say(`{"jsonrpc":"2.0","id":${id},"result":${value},"params":${odd},"beside":-0}`);
  if (method === "initialize")
    result(
      '{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{},"logging":{}},"serverInfo":{"name":"raw","version":"0"}}',
    );
  else if (method === "ping") result("{}");
  else if (method === "tools/list") result(`{"tools":[{"name":"echo","inputSchema":{"type":"object","vendor":${odd}}}]}`);
  else if (method === "resources/read") result(`{"contents":[{"uri":"test://odd","text":"x","vendor":${odd}}],"vendor":${odd}}`);
  else if (method === "tools/call" && line.includes('"name":"fail"'))
    say(`{"jsonrpc":"2.0","id":${id},"error":{"code":-4,"message":"no","data":${odd},"more":${odd},"data2":null},"beside":${odd}}`);
  else if (method === "tools/call") {
    const token = /"progressToken":("[^"]*"|[-+.\deE]+)/.exec(line)?.[1];
    if (token !== undefined)
      say(
        `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1234567890123456789,"total":1e400}}`,
      );
    say('{"jsonrpc":"2.0","method":"notifications/vendor/null","params":null}');
    say('{"jsonrpc":"2.0","method":"notifications/vendor/none"}');
    say(`{"jsonrpc":"2.0","method":"notifications/vendor/odd","params":{"n":${odd}},"beside":${odd}}`);
    result(`{"content":[],"structuredContent":{"n":${odd}},"heard":${JSON.stringify(heard)}}`);
  } else if (id !== undefined) say(`{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"unknown method"}}`);
});
