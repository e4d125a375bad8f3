/** Sends a person to an authorization server and returns the answer. */
export interface Redirect {
  /** Opens the redirect URL. `registered` are those that the client registered before: it should be one of them if possible. */
  open(registered: readonly string[]): Promise<Visit>;
}

export interface Visit extends AsyncDisposable {
  readonly redirectUrl: string;
  /** Shows the authorization page. Resolves with the parameters of the answer to this `state`. */
  go(url: URL, options: { readonly state: string; readonly signal: AbortSignal }): Promise<URLSearchParams>;
}
