import { OddNumber } from "./shapes.mjs";

/** Where the items of a list are. */
const lists = new Map([
  ["tools/list", "tools"],
  ["resources/list", "resources"],
  ["resources/templates/list", "resourceTemplates"],
  ["prompts/list", "prompts"],
]);

/** The JSON text of what the shapes make: -0 and odd numbers as they are. */
export function textOf(value) {
  if (value instanceof OddNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map((element) => textOf(element) ?? "null").join(",")}]`;
  if (!isObject(value)) return Object.is(value, -0) ? "-0" : JSON.stringify(value);
  const members = Object.keys(value).map((name) => [name, textOf(value[name])]);
  return `{${members
    .filter(([, text]) => text !== undefined)
    .map(([name, text]) => `${JSON.stringify(name)}:${text}`)
    .join(",")}}`;
}

/** What a double cannot hold. */
function isOdd(value) {
  if (value instanceof OddNumber) return !/^-0(\.0|e)/.test(value.text);
  return typeof value === "object" && value !== null && Object.values(value).some(isOdd);
}

/** A value with its members by name, and -0 in one spelling. */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value?.isMinusZero === true && value.constructor.name === "ExactNumber") return "minus zero";
  if (!isObject(value) || value.constructor?.name === "ExactNumber") return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])]),
  );
}

/** Compares two JSON texts: what is wrong, or whether only the order of members or the spelling of -0 is another. */
function compared(codec, expected, actual) {
  if (expected === actual) return { wrong: undefined, reordered: false };
  const [a, b] = [expected, actual].map((text) => codec.jsonText(sorted(codec.parseJson(text))));
  return { wrong: a === b ? undefined : { expected, actual }, reordered: a === b };
}

/** Runs `encode`; with nothing but doubles for numbers, it has to refuse what they cannot hold, and name the place. */
function refused(value, { twin }, encode) {
  if (twin || !isOdd(value)) return undefined;
  try {
    encode();
  } catch (error) {
    if (/. is the number .*, which JavaScript cannot hold exactly$/su.test(error.message)) return { size: 0, refused: true };
    throw error;
  }
  return { size: 0, wrong: "a number was changed" };
}

/**
 * Sends one case through the codec of a session, and back. A case is `{ to: "server" | "client", message, method? }`, with the
 * method that an answer answers. Gives what is wrong, or nothing.
 */
export function session(codec, { to, message, method }, options) {
  const text = textOf(message);
  const limits = { depth: 1000 };
  const given = codec.parseJson(text);
  const frames = [];
  const send = () => {
    if (to === "server") {
      frames.push(codec.encodeToServer(given, options));
      return codec.decodeToServer(frames[0], limits);
    }
    const items = "result" in given ? given.result[lists.get(method)] : undefined;
    if (!Array.isArray(items) || !items.every(isPlain)) {
      frames.push(codec.encodeToClient(given, method, options));
      return codec.decodeToClient(frames[0], () => method, limits);
    }
    // A list goes item by item, and its result without them.
    const { [lists.get(method)]: _, ...rest } = given.result;
    for (const value of items) frames.push(codec.encodePart(given.id, method, { kind: "item", value }, options));
    frames.push(codec.encodeToClient({ ...given, result: rest }, method, options));
    const back = frames.map((frame) => codec.decodeToClient(frame, () => method, limits));
    const last = back.pop();
    if (back.some(({ id }) => !Object.is(id, given.id))) throw new Error("an item lost its call");
    return { ...last, value: { ...last.value, [lists.get(method)]: back.map(({ part }) => part.value) } };
  };
  const verdict = refused(message, options, send);
  if (verdict !== undefined) return verdict;
  const actual = send();
  if (actual.kind === "bad") return { size: 0, wrong: actual.fault };
  const size = frames.reduce((sum, frame) => sum + frame.length, 0);
  return { size, json: text.length, ...compared(codec, codec.reserialise(codec.parseMessage(text, limits)), codec.reserialise(actual)) };
}

/** As `session`, of a connection of proto-mcp whose ends both announced what was added. `codec` has `MessageCodec`. */
export function connection(codec, { message, method }) {
  const text = textOf(message);
  const limits = { depth: 1000 };
  const given = codec.parseJson(text);
  const [near, far] = [new codec.MessageCodec(limits, true), new codec.MessageCodec(limits, true)];
  // Whoever answers has been asked.
  if (method !== undefined && given.id !== null && given.id !== undefined)
    near.decode(far.encode({ jsonrpc: "2.0", id: given.id, method, params: {} }));
  const sent = near.encode(given);
  const bytes = codec.relay === undefined ? sent : codec.relay(sent);
  const [actual] = far.decode(bytes);
  if (actual.kind === "bad") return { size: 0, wrong: actual.fault };
  const size = bytes.length;
  return { size, json: text.length, ...compared(codec, codec.reserialise(codec.parseMessage(text, limits)), codec.reserialise(actual)) };
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isPlain(value) {
  return isObject(value) && value.constructor?.name !== "ExactNumber";
}

/** Sends an object through one message, and back. */
export function message(codec, name, value, options) {
  const text = textOf(value);
  const given = codec.parseJson(text);
  const encode = () => codec.encodeMessage(name, given, options);
  const verdict = refused(value, options, encode);
  if (verdict !== undefined) return verdict;
  const bytes = encode();
  const actual = codec.jsonText(codec.decodeMessage(name, bytes, { depth: 1000 }));
  return { size: bytes.length, ...compared(codec, codec.jsonText(given), actual) };
}
