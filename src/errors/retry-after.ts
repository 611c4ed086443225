/* How long clients should wait before they repeat a rejected request. */

/** Long enough to reach another node. */
export const AT_ONCE = { retryAfterMs: 100 }
/** Long enough for other requests to be answered. */
export const SOON = { retryAfterMs: 1000 }
/** Long enough for the server to restart, or for a connection to become free. */
export const LATER = { retryAfterMs: 5000 }
/** Long enough for sessions and streams to expire. */
export const MUCH_LATER = { retryAfterMs: 30_000 }
