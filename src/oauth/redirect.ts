/** Takes a person to an authorization server and brings the answer back. */
export interface Redirect {
  /** Opens the place that answers come to. `registered` are those that the client told the server of before: one of them if possible. */
  open(registered: readonly string[]): Promise<Visit>;
}

export interface Visit extends AsyncDisposable {
  readonly redirectUrl: string;
  /** Shows the authorization page; resolves with the parameters of its answer to this `state`. */
  go(url: URL, options: { readonly state: string; readonly signal: AbortSignal }): Promise<URLSearchParams>;
}
