import type { ClientTls } from '../../tls/options.ts'

/** The platform's `fetch`, which programs may replace. */
export const platformFetch: typeof fetch = (input, init) => globalThis.fetch(input, init)

/** These runtimes take no options for TLS. */
export const fetchOver: ((url: URL, tls: ClientTls) => typeof fetch) | undefined = undefined
