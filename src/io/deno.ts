/** Whether this is Deno, whose HTTP differs from Node's in places: docs/runtimes.md. */
export const isDeno: boolean = "deno" in process.versions;

/** What HTTP is offered inside TLS. Deno's HTTP/2 does not answer as a client, and may abort the process as a server. */
export const offeredHttp: readonly string[] = isDeno ? ["http/1.1"] : ["h2", "http/1.1"];
