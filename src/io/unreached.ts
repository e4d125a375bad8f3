const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "the host is not known",
  ECONNRESET: "the connection was cut",
  ETIMEDOUT: "no answer",
};

/** Why a server could not be reached, in plain words where there are some. */
export function whyUnreached(error: Error): string {
  // OpenSSL's own words for an answer that is no TLS name a file of its sources.
  if (error.message.includes("wrong version number")) return "the server does not speak TLS";
  return reasons[(error as NodeJS.ErrnoException).code ?? ""] ?? error.message;
}
