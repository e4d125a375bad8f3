interface Handle {
  readonly _parent?: Handle | null;
  readonly bytesRead?: number;
  readonly bytesWritten?: number;
  readonly writeQueueSize?: number;
}

interface Progress {
  /** Changes when something arrives. */
  readonly read: string;
  /** Changes when something is sent. */
  readonly sent: string;
  /** Whether something waits until the peer has taken what was sent before. */
  readonly waits: boolean;
}

/**
 * Returns a function that tells whether the peer has shown a sign of life since it was last asked: something has arrived, or the peer has
 * taken some of what waited to be sent. On a slow connection the answer to a ping may come long after that, behind the data. What did not
 * have to wait shows nothing: the system also takes it for a peer that has gone.
 */
export function signsOfLife(socketOf: () => object | undefined): () => boolean {
  let before = progress(socketOf());
  return () => {
    const now = progress(socketOf());
    const alive = now.read !== before.read || (before.waits && now.sent !== before.sent);
    before = now;
    return alive;
  };
}

/** Node's own count of written bytes includes those that still wait. */
function progress(socket: object | undefined): Progress {
  const { _handle, _parent } = (socket ?? {}) as {
    readonly _handle?: Handle | null;
    readonly _parent?: { readonly _handle?: Handle | null };
  };
  // Over TLS what is below has the numbers.
  const handles = [_handle, _handle?._parent, _parent?._handle];
  return {
    read: handles.map((handle) => handle?.bytesRead).join(" "),
    sent: handles.map((handle) => `${handle?.bytesWritten} ${handle?.writeQueueSize}`).join(" "),
    waits: handles.some((handle) => (handle?.writeQueueSize ?? 0) > 0),
  };
}
