import { isDeepStrictEqual } from "node:util";

/** Where the items of a list are. */
const lists = new Map([
  ["tools/list", "tools"],
  ["resources/list", "resources"],
  ["resources/templates/list", "resourceTemplates"],
  ["prompts/list", "prompts"],
]);

/**
 * Sends one case through the codec of a session, and back. A case is `{ to: "server" | "client", message, method? }`, with the
 * method that an answer answers. Gives what is wrong, or nothing.
 */
export function session(codec, { to, message, method }, options) {
  const text = JSON.stringify(message);
  // How long its text was is no part of the message.
  const { size: _, ...expected } = codec.parseMessage(text, { depth: 1000 });
  const given = JSON.parse(text);
  const limits = { depth: 1000 };
  const frames = [];
  let actual;
  if (to === "server") {
    frames.push(codec.encodeToServer(given, options));
    actual = codec.decodeToServer(frames[0], limits);
  } else if (
    "result" in given &&
    lists.has(method) &&
    Array.isArray(given.result[lists.get(method)]) &&
    given.result[lists.get(method)].every(isObject)
  ) {
    // A list goes item by item, and its result without them.
    const { [lists.get(method)]: items, ...rest } = given.result;
    for (const value of items) frames.push(codec.encodePart(given.id, method, { kind: "item", value }, options));
    frames.push(codec.encodeToClient({ ...given, result: rest }, method, options));
    const back = frames.map((frame) => codec.decodeToClient(frame, () => method, limits));
    const last = back.pop();
    actual = { ...last, value: { ...last.value, [lists.get(method)]: back.map(({ part }) => part.value) } };
    if (back.some(({ id }) => !Object.is(id, given.id))) return "an item lost its call";
  } else {
    frames.push(codec.encodeToClient(given, method, options));
    actual = codec.decodeToClient(frames[0], () => method, limits);
  }
  const size = frames.reduce((sum, frame) => sum + frame.length, 0);
  return { size, json: text.length, wrong: isDeepStrictEqual(actual, expected) ? undefined : { expected, actual } };
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sends an object through one message, and back. */
export function message(codec, name, value, options) {
  const given = JSON.parse(JSON.stringify(value));
  const bytes = codec.encodeMessage(name, given, options);
  const actual = codec.decodeMessage(name, bytes, { depth: 1000 });
  return { size: bytes.length, wrong: isDeepStrictEqual(actual, given) ? undefined : { expected: given, actual } };
}
