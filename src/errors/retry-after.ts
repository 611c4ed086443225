/** How long a client waits before it repeats a rejected request: until others are answered, … */
export const SOON = { retryAfterMs: 1000 }
/** … until the server has restarted or a connection is free, … */
export const LATER = { retryAfterMs: 5000 }
/** … or until sessions and streams have expired. */
export const MUCH_LATER = { retryAfterMs: 30_000 }
