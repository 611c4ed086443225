/** A user of a server that starts it with the first request. */
export interface StartingUser {
  /** Resolves once the server has started. Rejects with an error for the client, and tries again the next time. */
  start(): Promise<void>
  /** Resolves once the server has stopped, if this was its last user. */
  end(): Promise<void>
}
