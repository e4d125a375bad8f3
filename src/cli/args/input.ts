/** The server to talk to: an address, or a command to start. */
export type Target =
  | string
  | { readonly command: string; readonly args: readonly string[]; readonly speaks?: "grpc+stdio" | "http+stdio" | "proto+stdio" };

/** A command line, checked against the table. */
export interface Input {
  readonly positionals: readonly string[];
  /** Undefined for commands that talk to no server. */
  readonly target: Target | undefined;
  readonly options: Options;
}

/** Values by option. A flag has an empty string for each time it was given. */
export class Options {
  readonly #values: ReadonlyMap<string, readonly (string | number)[]>;

  constructor(values: ReadonlyMap<string, readonly (string | number)[]>) {
    this.#values = values;
  }

  /** The same options with others added, as if they had been given first. */
  after(earlier: Readonly<Record<string, readonly string[]>>): Options {
    const values = new Map(this.#values);
    for (const [name, given] of Object.entries(earlier)) if (given.length > 0) values.set(name, [...given, ...(values.get(name) ?? [])]);
    return new Options(values);
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  times(name: string): number {
    return this.#values.get(name)?.length ?? 0;
  }

  text(name: string): string | undefined {
    const value = this.#values.get(name)?.at(-1);
    return typeof value === "string" ? value : undefined;
  }

  /** The value of an option that takes one of these words. The parser has already refused any other. */
  oneOf<T extends string>(name: string, words: readonly T[]): T | undefined {
    const text = this.text(name);
    return words.find((word) => word === text);
  }

  number(name: string): number | undefined {
    const value = this.#values.get(name)?.at(-1);
    return typeof value === "number" ? value : undefined;
  }

  texts(name: string): readonly string[] {
    return (this.#values.get(name) ?? []).map(String);
  }
}
