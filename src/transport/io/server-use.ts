/** A use of a server, which starts it with the first request. */
export interface ServerUse {
  /** Resolves once the server has started. Rejects with an error for the client, and tries again the next time. */
  start(): Promise<void>
  /** Resolves once the server has stopped, if this was its last use. */
  end(): Promise<void>
}
