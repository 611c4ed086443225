import { pinned } from '#pinned'
import { orAborted } from '../../base/backoff.ts'
import { placeOf, placeOfHost, type Place } from '../../base/places.ts'
import type { Resolver } from '../checked-lookup.ts'
import { oneLine } from '../../errors/printable.ts'
import { openReply, type OpenReply } from './open-reply.ts'
import { LoginProblem, PassingProblem, quoted, shownUrl } from './problem.ts'
import { reasonOf } from './reason.ts'
import { isUrl, parseUrl } from '../../protocol/url.ts'

/** How long a request for a document may take, with its reply. */
const TIMEOUT_MS = 5000
/** The same for requests that change something: a reply that nobody reads may have the only copy of a new refresh token. */
const POST_TIMEOUT_MS = 60_000
/** The largest reply that is read. */
const MAX_BYTES = 262_144

export interface SafeFetchOptions {
  /** The server that the client connects to. Where it is determines what may be contacted for it. */
  readonly server: URL
  /** Sends the requests. Default: connections of our own, whose addresses are checked. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Sends the requests with the TLS options of the server, and resolves names with the function `lookup` of its options. Default: none. */
  readonly ownFetch?: typeof globalThis.fetch | undefined
  /** Resolves names. Default: that of Node. */
  readonly resolver?: Resolver | undefined
  /** The time limit for documents. Default: 5 s. */
  readonly timeoutMs?: number | undefined
  /** The time limit for all other requests. Default: 60 s. */
  readonly postTimeoutMs?: number | undefined
}

/** What a server may lead to, by its own place. */
interface Reach {
  readonly 'https:': readonly Place[]
  readonly 'http:': readonly Place[]
  readonly text: string
}

const TO_PUBLIC: Reach = { 'https:': ['public'], 'http:': [], text: 'only public addresses over https' }

const REACH: Readonly<Record<Place, Reach>> = {
  public: TO_PUBLIC,
  special: TO_PUBLIC,
  private: {
    'https:': ['public', 'private'],
    'http:': [],
    text: 'only public and private addresses over https',
  },
  loopback: {
    'https:': ['public', 'loopback'],
    'http:': ['loopback'],
    text: 'only public addresses over https and this computer over http or https',
  },
}

/**
 * Creates a `fetch` for URLs that a server or an issuer chose. It contacts only addresses that the place of the server allows, follows no
 * redirects, and limits the time and the size of replies. It resolves with replies of any status.
 */
export function createSafeFetch(options: SafeFetchOptions): typeof globalThis.fetch {
  const { server, resolver, timeoutMs = TIMEOUT_MS, postTimeoutMs = POST_TIMEOUT_MS } = options
  const { hostname } = server
  let known: Place | undefined = placeOfHost(hostname)

  /** A name is private if all its addresses are. If it does not resolve now, it may later. */
  const placeOfServer = async (): Promise<Place> => {
    if (known !== undefined) return known
    const places = new Set((await pinned?.resolve(hostname, resolver))?.map(placeOf))
    const place = places.size === 1 && places.has('private') ? 'private' : 'public'
    return places.size === 0 ? place : (known ??= place)
  }

  const send = async (
    url: URL,
    signal: AbortSignal,
    ...sent: Parameters<typeof fetch>
  ): Promise<OpenReply> => {
    const faultOf = faultsOf(url, server, await placeOfServer())
    throwAny([faultOf(placeOfHost(url.hostname))])
    const checkAddress = (address: string): LoginProblem | undefined => faultOf(placeOf(address), address)
    if (options.ownFetch !== undefined && pinned !== undefined) {
      const init = { ...sent[1], signal, lookup: pinned.lookup(checkAddress, resolver) }
      return openReply(await options.ownFetch(sent[0], init))
    }
    if (options.fetch === undefined && pinned !== undefined)
      return pinned.send(new Request(...sent), { faultOf: checkAddress, signal, resolver })
    // Another function makes the connection, so the addresses can only be checked before.
    const addresses = isLiteral(url) ? [] : await pinned?.resolve(url.hostname, resolver)
    throwAny(addresses?.map(checkAddress) ?? [])
    signal.throwIfAborted()
    const own = options.fetch ?? globalThis.fetch
    return openReply(await own(sent[0], { ...sent[1], redirect: 'manual', signal }))
  }

  return async (input, init) => {
    const isRequest = input instanceof Request
    const url = readUrl(isRequest ? input.url : String(input))
    const method = init?.method ?? (isRequest ? input.method : 'GET')
    const limitMs = method === 'GET' ? timeoutMs : postTimeoutMs
    const timeout = AbortSignal.timeout(limitMs)
    const caller = init?.signal ?? (isRequest ? input.signal : undefined)
    const signal = caller === undefined ? timeout : AbortSignal.any([caller, timeout])
    const read = async (): Promise<Response> => readReply(await send(url, signal, input, init), url)
    try {
      return await orAborted(read(), signal)
    } catch (thrown) {
      caller?.throwIfAborted()
      for (const error of [thrown, (thrown as Error).cause]) if (error instanceof LoginProblem) throw error
      if (timeout.aborted) throw new PassingProblem(`${shownUrl(url)} took longer than ${limitMs} ms`)
      const remedy = remedyOf(thrown, options.ownFetch !== undefined)
      const { cause } = thrown as Error
      // The message of `fetch` itself says only that it failed.
      const reason = oneLine(reasonOf(cause instanceof Error ? cause : thrown))
      const message = `cannot reach ${shownUrl(url)}: ${reason}${remedy ?? ''}`
      // A certificate that is not trusted will not be trusted the next time.
      throw new (remedy === undefined ? PassingProblem : LoginProblem)(message, { cause: thrown })
    }
  }
}

function readUrl(text: string): URL {
  if (!isUrl(text)) throw new LoginProblem(`${quoted(text)} is not a URL`)
  const url = parseUrl(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new LoginProblem(`${shownUrl(url)} is refused: the scheme must be http or https`)
  if (url.username !== '' || url.password !== '')
    throw new LoginProblem(`${shownUrl(url)} is refused: the URL contains a user name or password`)
  return url
}

/** Says what is wrong with contacting a URL in a place; undefined stands for a place that is not known yet. */
function faultsOf(
  url: URL,
  server: URL,
  home: Place,
): (place: Place | undefined, address?: string) => LoginProblem | undefined {
  const reach = REACH[home]
  const places = reach[url.protocol as 'https:' | 'http:']
  // Otherwise a name could move after it was used to decide what may be contacted.
  const allowed = url.hostname === server.hostname ? places.filter((place) => place === home) : places
  return (place, address) => {
    if (place === undefined ? allowed.length > 0 : allowed.includes(place)) return undefined
    const at = address === undefined ? '' : `, which is at ${quoted(address)},`
    const rule = `a ${home} server such as ${server.host} may name ${reach.text}`
    return new LoginProblem(`${shownUrl(url)}${at} is not contacted: ${rule}`)
  }
}

function isLiteral({ hostname }: URL): boolean {
  return /^\[|^[\d.]+$/.test(hostname)
}

function throwAny(faults: readonly (Error | undefined)[]): void {
  for (const fault of faults) if (fault !== undefined) throw fault
}

/** Reads a reply to its end, so that nobody waits for a slow one or keeps a long one. */
async function readReply(reply: OpenReply, url: URL): Promise<Response> {
  const { status } = reply
  const headers = new Headers(reply.headers)
  // The body is decoded by now.
  for (const name of ['content-encoding', 'content-length']) headers.delete(name)
  try {
    // Browsers hide where a redirect leads.
    if (status < 200 || status > 599)
      throw new LoginProblem(`${shownUrl(url)} replied with a redirect, which is not followed`)
    const body = await readBody(reply.chunks, url)
    return new Response(body.size === 0 ? null : body, { status, headers })
  } catch (thrown) {
    reply.cancel()
    throw thrown
  }
}

async function readBody(chunks: AsyncIterable<Uint8Array>, url: URL): Promise<Blob> {
  const parts: BlobPart[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.byteLength
    if (bytes > MAX_BYTES)
      throw new LoginProblem(`${shownUrl(url)} replied with more than ${MAX_BYTES} bytes`)
    parts.push(chunk as Uint8Array<ArrayBuffer>)
  }
  return new Blob(parts)
}

/** The codes of certificates that are not trusted. */
const UNTRUSTED: ReadonlySet<unknown> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])
const OTHER_CERTIFICATES: ReadonlyMap<unknown, string> = new Map([
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'use the name that is in its certificate'],
  ['CERT_HAS_EXPIRED', 'its operator must renew the certificate'],
  ['CERT_NOT_YET_VALID', 'check the clock of this computer'],
])

/** What to do about a certificate; undefined if something else is wrong. The option tls counts for the server alone, not for its issuer. */
function remedyOf(thrown: unknown, hasTls: boolean): string | undefined {
  const { code, cause } = thrown as { readonly code?: unknown; readonly cause?: { readonly code?: unknown } }
  const codes = [code, cause?.code]
  if (codes.some((one) => UNTRUSTED.has(one))) {
    const file = 'start the program with NODE_EXTRA_CA_CERTS=ca.pem, the file with that authority'
    const remedy = hasTls ? 'add the authority to the option tls: { ca }' : file
    return `; its certificate comes from an authority that is not trusted: if you trust it, ${remedy}`
  }
  const other = codes.map((one) => OTHER_CERTIFICATES.get(one)).find((one) => one !== undefined)
  return other === undefined ? undefined : `; ${other}`
}
