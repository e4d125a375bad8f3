import { Fault } from "../core/index.js";
import type { Redirect } from "./redirect.js";

export interface HeadlessOptions {
  /** The redirect URL. Nothing listens there: the answer is read from the redirect itself. */
  readonly redirectUrl?: string | undefined;
}

const HOPS = 10;

/** Signs in without a person, by following the redirects of a test authorization server. */
export function headless({ redirectUrl = "http://127.0.0.1:3000/callback" }: HeadlessOptions = {}): Redirect {
  return {
    open: async () => ({
      redirectUrl,
      async go(url, { signal }) {
        let at = url;
        for (let hop = 0; hop < HOPS; hop++) {
          const response = await fetch(at, { redirect: "manual", signal });
          await response.body?.cancel();
          const location = response.headers.get("location");
          if (location === null)
            throw new Fault("unauthenticated", `the authorization page answered HTTP ${response.status} and no redirect`, {
              data: { reason: "no-redirect" },
            });
          at = new URL(location, at);
          if (at.href.startsWith(redirectUrl)) return at.searchParams;
        }
        throw new Fault("unauthenticated", "the authorization page redirects in circles", { data: { reason: "no-redirect" } });
      },
      async [Symbol.asyncDispose]() {},
    }),
  };
}
