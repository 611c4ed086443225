import { decide, readLogin, type LoginRequest } from './authorize.ts'
import type { Issuer } from './issuer.ts'
import { OAuthError } from './oauth-error.ts'
import { errorPage, loginPage } from './page.ts'
import { randomText } from '../digests.ts'
import { Store } from './store.ts'
import { parseUrl } from '../../protocol/url.ts'

const MAX_LOGINS = 1_000
const LOGIN_MS = 600_000

interface Waiting {
  readonly login: LoginRequest
  /** The browser that the page was sent to. */
  readonly browser: string
}

/** The login page, and the answers that users give on it. */
export class Logins {
  readonly #issuer: Issuer
  readonly #waiting = new Store<Waiting>(MAX_LOGINS)
  /** Ports share cookies, so the name contains the port. */
  readonly #cookie: string

  constructor(issuer: Issuer) {
    this.#issuer = issuer
    this.#cookie = `devAuth-${parseUrl(issuer.url).port}`
  }

  /** Shows the page. */
  async show(request: Request): Promise<Response> {
    try {
      const read = await readLogin(this.#issuer, parseUrl(request.url).searchParams)
      if ('redirect' in read) return redirect(read.redirect)
      const browser = this.#browserOf(request) ?? randomText()
      const ticket = randomText()
      this.#waiting.set(ticket, { login: read.login, browser }, Date.now() + LOGIN_MS)
      const response = loginPage(read.login, this.#issuer.users, ticket)
      // Other sites can open the page, but cannot send its form with this cookie.
      const cookie = `${this.#cookie}=${browser}; Path=/; HttpOnly; SameSite=Lax`
      response.headers.append('set-cookie', cookie)
      return response
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error
      return errorPage(error.message, error.status)
    }
  }

  /** Takes the answer of a user. A ticket is good for one answer in the browser that it was made for. */
  take(request: Request, form: URLSearchParams): Response {
    const ticket = form.get('ticket') ?? ''
    const waiting = this.#waiting.get(ticket)
    const isOwn =
      isSameOrigin(request) && waiting !== undefined && this.#browserOf(request) === waiting.browser
    if (!isOwn)
      return errorPage('The page has expired, or it was not sent from here. Start again in your client.', 403)
    this.#waiting.delete(ticket)
    const sub = form.get('other')?.trim() || (form.get('user') ?? '')
    const decision = form.get('decision') === 'allow' ? { sub, scopes: form.getAll('scope') } : 'deny'
    return redirect(decide(this.#issuer, waiting.login, decision))
  }

  #browserOf(request: Request): string | undefined {
    const cookies = (request.headers.get('cookie') ?? '').split('; ')
    const own = cookies.find((cookie) => cookie.startsWith(`${this.#cookie}=`))
    const [, value] = /=([\w-]{43})$/.exec(own ?? '') ?? []
    return value
  }
}

/** Whether a form comes from our own page, as far as the browser says. */
function isSameOrigin({ headers, url }: Request): boolean {
  const { origin } = parseUrl(url)
  const isOwnSite = ['same-origin', 'none'].includes(headers.get('sec-fetch-site') ?? 'same-origin')
  return isOwnSite && (headers.get('origin') ?? origin) === origin
}

function redirect(location: string): Response {
  return new Response(undefined, { status: 303, headers: { location } })
}
