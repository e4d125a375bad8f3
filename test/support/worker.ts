import { ForksPoolWorker, type PoolOptions, type PoolWorker, type WorkerRequest } from "vitest/node";

type Listener = (value: unknown) => void;

/**
 * A process of tests that says how it ended and what it ran, if nobody stopped it: vitest only says that one ended.
 * Where a failed test gets a second try, so does the file that ended its process.
 */
class Worker implements PoolWorker {
  readonly name = "processes";
  readonly cacheFs = true;
  readonly #listeners: [event: string, listener: Listener][] = [];
  readonly #options: PoolOptions;
  #process: ForksPoolWorker;
  #started: WorkerRequest | undefined;
  #running: WorkerRequest | undefined;
  #tries = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#process = new ForksPoolWorker(options);
  }

  readonly #ended = (code: number | null, signal: NodeJS.Signals | null): void => {
    const files = this.#running?.type === "run" ? this.#running.context.files.map(({ filepath }) => filepath).join(", ") : "nothing";
    const again = files !== "nothing" && this.#tries++ < (this.#options.project.config.retry as number);
    const text = `A process of tests ended with ${signal ?? `code ${code}`} while it ran ${files}.`;
    if (again) {
      console.error(`${text} It runs again: retry x1`);
      void this.#runAgain();
      return;
    }
    this.#options.project.vitest.state.catchError(new Error(text), "Unhandled Error");
    for (const [event, listener] of this.#listeners) if (event === "exit") listener(code);
  };

  async #runAgain(): Promise<void> {
    const process = new ForksPoolWorker(this.#options);
    this.#process = process;
    await this.start();
    for (const [event, listener] of this.#listeners) if (event !== "exit") process.on(event, listener);
    const started = ({ type }: { type?: string }): void => {
      if (type !== "started") return;
      process.off("message", started);
      process.send(this.#running as WorkerRequest);
    };
    process.on("message", started);
    process.send(this.#started as WorkerRequest);
  }

  async start(): Promise<void> {
    await this.#process.start();
    // Its listeners get the code alone, and the signal says more.
    this.#process.on("exit", this.#ended as Listener);
  }

  stop(): Promise<void> {
    this.#process.off("exit", this.#ended as Listener);
    return this.#process.stop();
  }

  send(message: WorkerRequest): void {
    if (message.type === "start") this.#started = message;
    if (message.type === "run") [this.#running, this.#tries] = [message, 0];
    this.#process.send(message);
  }

  on(event: string, listener: Listener): void {
    this.#listeners.push([event, listener]);
    if (event !== "exit") this.#process.on(event, listener);
  }

  off(event: string, listener: Listener): void {
    const at = this.#listeners.findIndex((each) => each[0] === event && each[1] === listener);
    if (at >= 0) this.#listeners.splice(at, 1);
    if (event !== "exit") this.#process.off(event, listener);
  }

  deserialize(data: unknown): unknown {
    return this.#process.deserialize(data);
  }
}

export const processes = { name: "processes", createPoolWorker: (options: PoolOptions): PoolWorker => new Worker(options) };
