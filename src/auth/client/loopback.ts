import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Deferred } from '../../base/deferred.ts'
import { isSame, randomText } from '../digests.ts'
import { findPeerOwner, ownUsers, type Peer } from './peer-owner.ts'
import { LoginProblem } from './problem.ts'
import { isUrl, parseUrl } from '../../protocol/url.ts'

/** A listener on this computer to which an issuer sends the browser. */
export interface Loopback {
  readonly uri: string
  /** Resolves with the first request that has the state. */
  wait(state: string): Promise<URL>
  /** Creates a URL on this computer that leads to a page once. If it is opened twice, somebody else may have the page, so the login fails. */
  linkTo(page: URL): PageLink
  close(): void
}

/** A URL on this computer that leads to a login page. */
export interface PageLink {
  readonly url: URL
  /** Whether programs of other users that open it are refused. */
  readonly isGuarded: boolean
}

/** Where to listen. */
export interface LoopbackPlace {
  /** The redirect URI that must be used; undefined for a free port. */
  readonly uri?: string | undefined
  /** URIs whose ports are used if they are free, because an issuer knows them. */
  readonly preferred?: readonly string[] | undefined
}

const PATH = '/callback'
const HOST = '127.0.0.1'
/** The connections at once. A browser needs a few. */
const MAX_CONNECTIONS = 64
/** How long the last page may take. */
const LAST_MS = 1_000

/** Listens on the loopback interface only, and where the system shows whose programs connect, only to those of some users. */
export async function openLoopback(
  { uri, preferred = [] }: LoopbackPlace,
  users: readonly number[] = ownUsers(),
): Promise<Loopback> {
  const server = createServer({ requestTimeout: 10_000, maxHeaderSize: 32_768 })
  evictOldest(server)
  if (uri !== undefined) {
    const { hostname, port } = parseUrl(uri)
    await listening(server, Number(port || 80), hostOf(hostname)).catch((error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'its port is in use' : error.message
      throw new LoginProblem(`cannot listen on ${uri}: ${reason}; choose another redirectUri`)
    })
    return serve(server, parseUrl(uri), { uri, users })
  }
  const ports = preferred.map(portOf).filter((port) => port !== undefined)
  for (const port of [...ports, 0]) {
    const isOpen = await listening(server, port).then(
      () => true,
      (error: unknown) => {
        if (port === 0) throw error
        return false
      },
    )
    if (isOpen) break
  }
  const own = `http://${HOST}:${(server.address() as AddressInfo).port}${PATH}`
  return serve(server, parseUrl(own), { uri: own, users })
}

/** Bounds the connections. The oldest is closed rather than the newest refused, which may be that of the browser. */
function evictOldest(server: Server): void {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    const [oldest] = sockets
    if (sockets.size <= MAX_CONNECTIONS || oldest === undefined) return
    sockets.delete(oldest)
    oldest.destroy()
  })
}

/** The port of a redirect URI as this file creates them. */
function portOf(uri: string): number | undefined {
  const [, port] = /^http:\/\/127\.0\.0\.1:(\d{1,5})\/callback$/.exec(uri) ?? []
  return port === undefined ? undefined : Number(port)
}

/** The address to listen on. Browsers also try this one for `localhost`. */
function hostOf(hostname: string): string {
  return hostname === 'localhost' ? HOST : hostname.replace(/^\[(.*)\]$/, '$1')
}

function listening(server: Server, port: number, host: string = HOST): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

interface Listener {
  readonly uri: string
  readonly users: readonly number[]
}

function serve(server: Server, { host, pathname, origin }: URL, { uri, users }: Listener): Loopback {
  const ownerOf = findPeerOwner(server.address() as AddressInfo)
  const isOwn = (peer: Peer): boolean => {
    if (ownerOf === undefined) return true
    const owner = ownerOf(peer)
    return owner !== undefined && users.includes(owner)
  }
  let expected: string | undefined
  let link: Link | undefined
  const received = new Deferred<URL>()
  // Nobody waits if the login ends before.
  received.promise.catch(() => undefined)
  server.on('request', (request, response) => {
    const target = readTarget(request)
    if (link !== undefined && expected !== undefined && isFor(link, request, target, host)) {
      if (!isOwn(request.socket)) return reply(response, NOT_OWN)
      if (!link.isUsed) return lead(response, link)
      expected = undefined
      received.reject(new LoginProblem(USED_TWICE))
      return reply(response, GONE)
    }
    // Others may send as many requests as they like: nobody can guess the state, and the answer must not be kept away.
    const problem =
      expected === undefined ? GONE : fault(request, target, { host, pathname, state: expected })
    if (problem !== undefined) return reply(response, problem)
    if (!isOwn(request.socket)) return reply(response, NOT_OWN)
    // One answer is enough; whatever comes later is not read.
    expected = undefined
    const answer = parseUrl(`${uri.split('?')[0]}${target!.search}`)
    reply(response, answer.searchParams.has('error') ? FAILED : DONE)
    response.once('close', () => server.close())
    received.resolve(answer)
  })
  return {
    uri,
    wait(state) {
      expected = state
      return received.promise
    },
    linkTo(page) {
      link = { path: `/open/${randomText()}`, page, isUsed: false }
      return { url: parseUrl(link.path, origin), isGuarded: ownerOf !== undefined }
    },
    close() {
      expected = undefined
      server.close()
      // The page that says that all is well may still be on its way, but nobody may keep the process from ending.
      server.closeIdleConnections()
      setTimeout(() => server.closeAllConnections(), LAST_MS).unref()
    },
  }
}

/** A link that leads to a page once. */
interface Link {
  readonly path: string
  readonly page: URL
  isUsed: boolean
}

const USED_TWICE =
  'the link that the browser was started with was opened twice, perhaps by another user of this computer; log in again, with open: false if it happens again'

function isFor(
  { path }: Link,
  { method, headers }: IncomingMessage,
  target: URL | undefined,
  host: string,
): boolean {
  return method === 'GET' && headers.host === host && isSame(target?.pathname ?? '', path)
}

/** Sends the browser to the page. */
function lead(response: ServerResponse, link: Link): void {
  link.isUsed = true
  response.writeHead(302, {
    location: link.page.href,
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  })
  response.end()
}

function readTarget({ url = '' }: IncomingMessage): URL | undefined {
  const base = `http://${HOST}`
  return url.startsWith('/') && !url.startsWith('//') && isUrl(url, base) ? parseUrl(url, base) : undefined
}

interface Page {
  readonly status: number
  readonly title: string
  readonly text: string
  readonly headers?: Readonly<Record<string, string>>
}

const DONE: Page = {
  status: 200,
  title: 'Thank you',
  text: 'You can close this window and return to the program.',
}
const FAILED: Page = {
  status: 200,
  title: 'The login did not succeed',
  text: 'Close this window. The program says why.',
}
const GONE: Page = {
  status: 410,
  title: 'This login is over',
  text: 'Close this window, and start the login again.',
}
const NOT_FOUND: Page = { status: 404, title: 'Not found', text: 'There is nothing here.' }
const FOREIGN: Page = {
  status: 403,
  title: 'Forbidden',
  text: 'This address is for logins on this computer.',
}
const NOT_OWN: Page = {
  status: 403,
  title: 'This login belongs to another user of this computer',
  text: 'Open the login page in a browser of the user who runs the program.',
}
const UNKNOWN: Page = {
  status: 400,
  title: 'This login is unknown',
  text: 'Start the login again in the program.',
}
const VERB: Page = {
  status: 405,
  title: 'Method not allowed',
  text: 'Only GET is allowed.',
  headers: { allow: 'GET' },
}

interface Expected {
  readonly host: string
  readonly pathname: string
  readonly state: string
}

/** The page for a request that is not the expected one; undefined if it is. */
function fault(request: IncomingMessage, target: URL | undefined, expected: Expected): Page | undefined {
  if (request.headers.host !== expected.host) return FOREIGN
  if (target?.pathname !== expected.pathname) return NOT_FOUND
  if (request.method !== 'GET') return VERB
  const states = target.searchParams.getAll('state')
  return states.length === 1 && isSame(states[0]!, expected.state) ? undefined : UNKNOWN
}

/** Pages are fixed texts: nothing of a request is repeated in them. */
function reply(response: ServerResponse, { status, title, text, headers }: Page): void {
  const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title></head>
<body><h1>${title}</h1><p>${text}</p></body>
</html>
`
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    connection: 'close',
    ...headers,
  })
  response.end(page)
}
