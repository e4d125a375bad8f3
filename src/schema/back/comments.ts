import type { DescFile } from "@bufbuild/protobuf";
import type { DescriptorProto } from "@bufbuild/protobuf/wkt";

const known = new WeakMap<DescFile, ReadonlyMap<string, string>>();

/** The comments of a file, by the full name of what they describe. Empty if the descriptor has no source info. */
export function commentsOf(file: DescFile): ReadonlyMap<string, string> {
  let found = known.get(file);
  if (found === undefined) known.set(file, (found = read(file)));
  return found;
}

function read({ proto }: DescFile): Map<string, string> {
  const byPath = new Map(proto.sourceCodeInfo?.location.map(({ path, leadingComments }) => [path.join(), leadingComments]));
  const comments = new Map<string, string>();
  if (byPath.size === 0) return comments;
  const add = (name: string, path: readonly number[]): void => {
    const text = byPath.get(path.join())?.replace(/^ /gm, "").trim();
    if (text !== undefined && text !== "") comments.set(name, text);
  };
  const walk = (message: DescriptorProto, scope: string, path: readonly number[]): void => {
    const name = scope === "" ? message.name : `${scope}.${message.name}`;
    add(name, path);
    for (const [index, field] of message.field.entries()) add(`${name}.${field.name}`, [...path, 2, index]);
    for (const [index, nested] of message.nestedType.entries()) walk(nested, name, [...path, 3, index]);
  };
  for (const [index, message] of proto.messageType.entries()) walk(message, proto.package, [4, index]);
  return comments;
}
