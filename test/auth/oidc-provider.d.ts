/** The part of oidc-provider that the tests use; the package has no types. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  /** What happened, as far as the tests look at it. */
  interface ProviderEvent {
    readonly oidc: { readonly params?: Readonly<Record<string, string | undefined>> }
  }

  export default class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>)
    callback(): RequestListener
    on(event: string, listener: (event: ProviderEvent) => void): this
  }
}
