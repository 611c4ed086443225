/** The platform's `fetch`, which programs may replace. */
export const platformFetch: typeof fetch = (input, init) => globalThis.fetch(input, init)
