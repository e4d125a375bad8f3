import { createRegistry, type DescExtension, type DescFile, type DescService, type Registry, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

/** The files that describe a set of services, and an index of the names in them. */
export class Files {
  readonly #files: ReadonlyMap<string, DescFile>;
  readonly #types: Registry;
  readonly #bytes = new Map<DescFile, Uint8Array>();

  constructor(services: readonly DescService[]) {
    const files = new Map<string, DescFile>();
    const add = (file: DescFile): void => {
      const name = file.proto.name;
      if (files.has(name)) return;
      files.set(name, file);
      for (const each of file.dependencies) add(each);
    };
    for (const { file } of services) add(file);
    this.#files = files;
    this.#types = createRegistry(...files.values());
  }

  named(name: string): DescFile | undefined {
    return this.#files.get(name);
  }

  /** The file of a message, enum, service or extension, or of a field, value or method within one. */
  of(symbol: string): DescFile | undefined {
    const found = this.#types.get(symbol);
    if (found !== undefined) return found.file;
    const dot = symbol.lastIndexOf(".");
    const parent = dot < 0 ? undefined : this.#types.get(symbol.slice(0, dot));
    const name = symbol.slice(dot + 1);
    if (parent?.kind === "service") return parent.methods.some((each) => each.name === name) ? parent.file : undefined;
    if (parent?.kind === "message" && [...parent.fields, ...parent.oneofs].some((each) => each.name === name)) return parent.file;
    return this.#valueOf(symbol);
  }

  /** The extensions of a message; undefined if there is no such message. */
  extensionsOf(message: string): readonly DescExtension[] | undefined {
    if (this.#types.getMessage(message) === undefined) return undefined;
    return [...this.#types].filter((type) => type.kind === "extension").filter(({ extendee }) => extendee.typeName === message);
  }

  /** A file and its dependencies, each only if `sent` does not have it yet; the file itself always. */
  serialised(file: DescFile, sent: Set<DescFile>): Uint8Array[] {
    const chosen: DescFile[] = [];
    const choose = (each: DescFile): void => {
      if (sent.has(each) && each !== file) return;
      sent.add(each);
      chosen.push(each);
      for (const dependency of each.dependencies) if (!sent.has(dependency)) choose(dependency);
    };
    choose(file);
    return chosen.map((each) => this.#serialise(each));
  }

  /** The values of an enum are named in the scope around it. */
  #valueOf(symbol: string): DescFile | undefined {
    for (const type of this.#types) {
      if (type.kind !== "enum") continue;
      const scope = type.typeName.slice(0, type.typeName.lastIndexOf(".") + 1);
      if (symbol.startsWith(scope) && type.values.some(({ name }) => scope + name === symbol)) return type.file;
    }
    return undefined;
  }

  #serialise(file: DescFile): Uint8Array {
    const known = this.#bytes.get(file);
    if (known !== undefined) return known;
    const bytes = toBinary(FileDescriptorProtoSchema, file.proto);
    this.#bytes.set(file, bytes);
    return bytes;
  }
}
