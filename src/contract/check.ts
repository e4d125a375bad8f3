import type { ClientOptions, McpClient } from "../core/index.js";

/** A wire under test: opens clients on the contract's service over it. */
export interface Subject {
  /** A client of a service of its own, made by contractService(); the check closes it. */
  open(options?: ClientOptions): Promise<McpClient>;
  /** Wires between client and service, if there are relays; one unless given. Each may hold some of what a slow reader has not read. */
  readonly hops?: number | undefined;
}

export interface Check {
  readonly name: string;
  run(subject: Subject): Promise<void>;
}

/** A check with one client, closed whatever happens. */
export function check(name: string, run: (client: McpClient, hops: number) => Promise<void>, options: ClientOptions = {}): Check {
  return {
    name,
    async run(subject) {
      const client = await subject.open(options);
      try {
        await run(client, subject.hops ?? 1);
      } finally {
        await client.close();
      }
    },
  };
}
