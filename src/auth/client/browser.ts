import { toMs, type Duration } from '../../base/duration.ts'
import { DURATION, FLAG, TEXT, type Kind, type KindsOf } from '../../base/kinds.ts'
import { badOption, checkOptions } from '../../base/options.ts'
import { isLoopback } from '../../base/loopback.ts'
import { createAuthorizationCode } from './authorization-code.ts'
import type { GrantContext, StepUp } from './grant.ts'
import type { Loopback } from './loopback.ts'
import { createMethod, METHOD_OPTIONS, type LoginMethod, type MethodOptions } from './method.ts'
import { LoginProblem, LoginRefused } from './problem.ts'
import { reasonOf } from './reason.ts'
import { withinTime, type LoginRequest, type Redirect } from './redirect.ts'
import { isUrl, parseUrl } from '../../protocol/url.ts'

/** Describes a login to the function that opens its page. */
export interface LoginInfo {
  /** The URL of the server that needs the login. */
  readonly server: URL
  /** The issuer whose page it is. Show it before you open the page: the server chose it. */
  readonly issuer: string
  /** Why a user who is logged in has to log in again; undefined at a first login. */
  readonly stepUp?: StepUp | undefined
  /** Aborts when the login is over. */
  readonly signal: AbortSignal
}

/**
 * Shows a login page to the user. It may return the URL to which the browser was sent afterwards, and must if the option `redirectUri` is
 * set; otherwise the answer arrives on a port of this computer.
 */
export type OpenPage = (
  page: URL,
  login: LoginInfo,
) => string | URL | undefined | void | Promise<string | URL | undefined | void>

/** Options of `browser`. */
export interface BrowserOptions extends MethodOptions {
  /**
   * How the login page is opened: `true` starts the browser, `false` only prints the URL to stderr, and a function shows it in its own
   * way. Default: on a terminal the user is asked; elsewhere the URL is printed.
   */
  readonly open?: boolean | OpenPage | undefined
  /** The client id that the issuer gave this program. Default: none; the program registers itself where issuers allow it. */
  readonly clientId?: string | undefined
  /**
   * The secret that belongs to `clientId`. It needs the option `issuer`, so that a server cannot have it sent to another. Default: none, as is
   * usual for programs on the computers of their users.
   */
  readonly clientSecret?: string | undefined
  /**
   * The https URL of a JSON document that describes this program (OAuth Client ID Metadata Document). Issuers that support it need no
   * registration. Default: none.
   */
  readonly clientMetadataUrl?: string | undefined
  /** The name of this program, which users see when they are asked for consent. Default: `'Pierhead'`. */
  readonly clientName?: string | undefined
  /**
   * Where the issuer sends the browser afterwards, for programs that receive the answer themselves and return it from `open`; or a URL on
   * `127.0.0.1` with a port on which to listen. Default: `http://127.0.0.1:<free port>/callback`.
   */
  readonly redirectUri?: string | undefined
  /** How long a user may take to log in. Default: `'5m'`. */
  readonly timeout?: Duration | undefined
  /** Whether to use stored credentials only, and never ask a person to log in: for CI and services. Default: `false`. */
  readonly storedOnly?: boolean | undefined
}

const REDIRECT: Kind<string> = {
  must: 'a URL without a fragment, such as https://app.example/callback',
  is: (value) => typeof value === 'string' && isUrl(value) && !value.includes('#'),
  repeats: true,
}

const DOCUMENT: Kind<string> = {
  must: 'an https URL with a path, such as https://app.example/client.json',
  is: (value) =>
    typeof value === 'string' &&
    /^https:\/\/[^/?#]+\/[^?#]/i.test(value) &&
    isUrl(value) &&
    !value.includes('#'),
  repeats: true,
}

const OPTIONS: KindsOf<BrowserOptions> = {
  ...METHOD_OPTIONS,
  open: {
    must: 'true, false, or a function that shows the page',
    is: (value) => typeof value === 'boolean' || typeof value === 'function',
  },
  clientId: TEXT,
  clientSecret: TEXT,
  clientMetadataUrl: DOCUMENT,
  clientName: TEXT,
  redirectUri: REDIRECT,
  timeout: DURATION,
  storedOnly: FLAG,
}

/**
 * Logs a person in with a browser. The first request that a server rejects starts the login; its requests then carry the token, which is
 * refreshed when it expires.
 *
 * @example
 * await using client = await connect('https://mcp.example/mcp', { auth: browser({ vault: fileVault() }) })
 */
export function browser(options: BrowserOptions = {}): LoginMethod {
  checkOptions<BrowserOptions>('browser', options, OPTIONS)
  const { clientId, clientSecret, clientMetadataUrl, clientName = 'Pierhead' } = options
  if (clientSecret !== undefined && clientId === undefined)
    throw badOption('browser', 'clientSecret needs the clientId that it belongs to')
  checkRedirect(options)
  const timeoutMs = toMs(options.timeout ?? '5m', 'browser timeout')
  const grant = createAuthorizationCode({
    identity: { clientId, clientSecret, clientMetadataUrl, clientName },
    openRedirect: (context, preferred) =>
      typeof options.open === 'function' && options.redirectUri !== undefined
        ? Promise.resolve(ownRedirect(options.open, options.redirectUri, context, timeoutMs))
        : listen(options, context, preferred, timeoutMs),
  })
  return createMethod('browser', grant, options)
}

/** Without a function that returns the answer, the redirect must reach a port that can be opened here. */
function checkRedirect({ redirectUri, open }: BrowserOptions): void {
  if (redirectUri === undefined || typeof open === 'function') return
  const url = parseUrl(redirectUri)
  if (url.protocol === 'http:' && isLoopback(url.hostname) && url.port !== '' && url.search === '') return
  throw badOption(
    'browser',
    'redirectUri needs the option open: a function that returns the URL to which the browser was sent; only http://127.0.0.1 with a port works without it',
  )
}

function infoOf({ server, issuer, stepUp }: GrantContext, signal: AbortSignal): LoginInfo {
  return { server: parseUrl(server), issuer: issuer.issuer, stepUp, signal }
}

/** Leaves the redirect to the program. */
function ownRedirect(open: OpenPage, uri: string, context: GrantContext, timeoutMs: number): Redirect {
  const over = new AbortController()
  return {
    uri,
    async receive(request) {
      context.signal.throwIfAborted()
      const answer = ask(open, request, infoOf(context, over.signal))
      const given = await withinTime(request, answer, { timeoutMs, signal: context.signal })
      if (given === undefined) {
        const remedy = 'it must return the URL to which the browser was sent, because redirectUri is set'
        throw new LoginProblem(`the function open returned nothing; ${remedy}`)
      }
      return readAnswer(given, uri)
    },
    close: () => over.abort(),
  }
}

/** Calls the function of the program. If it throws, the page was not shown. */
async function ask(
  open: OpenPage,
  { url }: LoginRequest,
  info: LoginInfo,
): Promise<string | URL | undefined | void> {
  try {
    return await open(url, info)
  } catch (thrown) {
    throw new LoginRefused(reasonOf(thrown))
  }
}

/** The URL that the browser was sent to, as a program reports it. */
function readAnswer(given: string | URL, uri: string): URL {
  const answer = isUrl(String(given)) ? parseUrl(given) : undefined
  const expected = parseUrl(uri)
  const isExpected =
    answer?.protocol === expected.protocol &&
    answer.host === expected.host &&
    answer.pathname === expected.pathname
  if (answer !== undefined && isExpected) return answer
  throw new LoginProblem(`the function open returned a URL that does not begin with ${uri}`)
}

/** Receives the answer on a port of this computer. */
async function listen(
  { open, redirectUri }: BrowserOptions,
  context: GrantContext,
  preferred: readonly string[],
  timeoutMs: number,
): Promise<Redirect> {
  const { openLoopback } = await import('#desktop')
  const loopback = await openLoopback({ uri: redirectUri, preferred })
  const over = new AbortController()
  return {
    uri: loopback.uri,
    async receive(request) {
      context.signal.throwIfAborted()
      const arrived = loopback.wait(request.state)
      const shown = show(open, request, context, { signal: over.signal, linkTo: loopback.linkTo })
      // The page is shown until the answer arrives, so only what it returns or throws before counts.
      const returned = shown.then((given) =>
        given === undefined ? arrived : readAnswer(given, loopback.uri),
      )
      const answer = Promise.race([arrived, returned])
      return withinTime(request, answer, { timeoutMs, signal: context.signal })
    },
    close() {
      over.abort()
      loopback.close()
    },
  }
}

async function show(
  open: BrowserOptions['open'],
  request: LoginRequest,
  context: GrantContext,
  { signal, linkTo }: { readonly signal: AbortSignal; readonly linkTo: Loopback['linkTo'] },
): Promise<string | URL | undefined> {
  const info = infoOf(context, signal)
  if (typeof open === 'function') return (await ask(open, request, info)) ?? undefined
  const { showPage } = await import('#desktop')
  await showPage({ ...info, request, open, link: () => linkTo(request.url) })
  return undefined
}
