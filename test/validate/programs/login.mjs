// Logs the official clients in without a person: the issuers of the validator answer the request for the login page with the redirect.
import { randomUUID } from 'node:crypto'

const REDIRECT = 'http://127.0.0.1:1/callback'
/** How often a program logs in for one request. */
const MOST_LOGINS = 3

/** The provider of the official SDKs, with everything in memory, by issuer. */
export class Login {
  clientMetadataUrl = 'https://official.example/client.json'
  redirectUrl = REDIRECT
  clientMetadata = {
    client_name: 'official-client',
    redirect_uris: [REDIRECT],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  }
  /** The parameters of the last redirect; undefined once they were used. */
  answer
  #state
  #verifier = ''
  #clients = new Map()
  #tokens = new Map()

  state() {
    this.#state = randomUUID()
    return this.#state
  }

  clientInformation(context) {
    return this.#clients.get(context?.issuer)
  }

  saveClientInformation(client, context) {
    this.#clients.set(context?.issuer, client)
  }

  tokens(context) {
    return (
      this.#tokens.get(context?.issuer) ??
      (context === undefined ? [...this.#tokens.values()].at(-1) : undefined)
    )
  }

  saveTokens(tokens, context) {
    this.#tokens.delete(context?.issuer)
    this.#tokens.set(context?.issuer, tokens)
  }

  invalidateCredentials(scope) {
    if (scope === 'all' || scope === 'tokens') this.#tokens.clear()
    if (scope === 'all' || scope === 'client') this.#clients.clear()
  }

  async redirectToAuthorization(page) {
    const reply = await fetch(page, { redirect: 'manual' })
    const { searchParams } = new URL(reply.headers.get('location') ?? '')
    if (searchParams.get('state') !== this.#state) throw new Error('the answer belongs to another login')
    this.answer = searchParams
  }

  saveCodeVerifier(verifier) {
    this.#verifier = verifier
  }

  codeVerifier() {
    return this.#verifier
  }

  /** Runs something; whenever the server wants a login, `finish` ends that login, and it runs again. */
  async use(action, finish) {
    for (let count = 0; ; count++)
      try {
        return await action()
      } catch (error) {
        const { answer } = this
        if (answer === undefined || count >= MOST_LOGINS) throw error
        this.answer = undefined
        await finish(answer)
      }
  }
}
