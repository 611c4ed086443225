import { isUrl, parseUrl } from '../../protocol/url.ts'
import { isObject, parsed, type Message } from '../message.ts'
import {
  absent,
  B_TO_E,
  C_TO_E,
  D_TO_E,
  failed,
  passed,
  unchecked,
  unless,
  type Rule,
  type Transport,
  type Verdict,
} from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import { HttpWire } from '../wire-http.ts'
import type { HttpReply } from '../wire.ts'
import { isJwt, tampered, tokenOfAnother, unsignedToken } from './forged-tokens.ts'
import { initializeMessage } from './refusal.ts'
import { unguarded } from './unguarded.ts'

const HTTP: readonly Transport[] = ['http']
const WELL_KNOWN = '/.well-known/oauth-protected-resource'
/** A text that is no token of any server. */
const NO_TOKEN = 'validator-not-a-token'
const OPEN: Verdict = absent('the server answers without a token')
const OWN_KEY: Verdict = absent('nothing shows that clients can log in: the server has keys of its own')

/**
 * Rules about authorization, as far as they are seen from outside. The token of the user is sent to the address of the server only, never in
 * a URL, and to no address that the server names.
 */
export const AUTHORIZATION_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R270',
    level: 'must',
    revisions: B_TO_E,
    transports: HTTP,
    rule: 'A request without a token, or with an invalid one, is refused with status 401.',
    how: 'Sends a greeting without a token, and with texts that are no tokens, in the header and in the URL; then requests of every method, a notification, GET and DELETE.',
    fix: 'Verify the token of every request before anything else; answer with 401, and a malformed header with 400.',
    async check(subject) {
      const bare = await withoutToken(subject)
      if (!bare.isProtected) return OPEN
      if (bare.reply.status !== 401)
        return failed(`a request without a token is answered with status ${bare.reply.status}`)
      const own = tokenOf(subject)
      for (const [what, authorization] of [
        ['a text that is no token', `Bearer ${NO_TOKEN}`],
        ['a token without a signature', `Bearer ${unsignedToken(audienceOf(subject))}`],
        ...(own !== undefined && isJwt(own)
          ? [['a token that was changed', `Bearer ${tampered(own)}`] as const]
          : []),
      ] as const) {
        const { status } = await ask(subject, { authorization })
        if (status !== 401) return failed(`${what} is answered with status ${status} instead of 401`)
      }
      const inUrl = await ask(subject, { query: `access_token=${NO_TOKEN}` })
      if (inUrl.status < 400) return failed('a request with a text that is no token in the URL is accepted')
      const empty = await ask(subject, { authorization: 'Bearer' })
      if (empty.status !== 400 && empty.status !== 401)
        return failed(`"Authorization: Bearer" without a token is answered with status ${empty.status}`)
      return unless(await unguarded(subject, { wrong: NO_TOKEN, hasToken: await isIn(subject) }))
    },
  },
  {
    id: 'R272',
    level: 'must',
    revisions: C_TO_E,
    transports: HTTP,
    rule: 'The server publishes metadata (RFC 9728) that name at least one authorization server, and the server itself as the resource.',
    how: 'Reads the document that WWW-Authenticate names, or the one at the well-known address, and compares resource with the URL.',
    fix: `Serve ${WELL_KNOWN} with { "resource", "authorization_servers": ["https://…"] }.`,
    async check(subject) {
      const { isProtected, reply } = await withoutToken(subject)
      if (!isProtected) return OPEN
      if (!(await hasLogin(subject))) return OWN_KEY
      const named = namedMetadata(reply)
      const found = await metadataOf(subject, named)
      if (found === undefined && named !== undefined && !isOwn(subject, named))
        return unchecked(`the metadata are at ${originOf(named)}, which the validator does not ask`)
      if (found === undefined) return failed(`there is no document at ${WELL_KNOWN}`)
      const servers = found['authorization_servers']
      if (!Array.isArray(servers) || servers.length === 0 || !servers.every((one) => typeof one === 'string'))
        return failed(`authorization_servers is ${JSON.stringify(servers)?.slice(0, 150)}`)
      const { resource } = found
      return unless(
        typeof resource === 'string' && isResourceOf(subject, resource)
          ? undefined
          : `resource is ${JSON.stringify(resource)?.slice(0, 150)}, and the address of the server is ${audienceOf(subject)}`,
      )
    },
  },
  {
    id: 'R273',
    level: 'must',
    revisions: ['2025-06-18'],
    transports: HTTP,
    rule: 'Status 401 comes with the header WWW-Authenticate, which names the metadata.',
    how: 'Sends a request without a token, and looks at the header.',
    fix: 'Send WWW-Authenticate: Bearer resource_metadata="https://…".',
    async check(subject) {
      const { isProtected, reply } = await withoutToken(subject)
      if (!isProtected) return OPEN
      if (!(await hasLogin(subject))) return OWN_KEY
      const header = reply.headers['www-authenticate']
      if (header === undefined) return failed('the reply without a token has no WWW-Authenticate')
      return unless(
        namedMetadata(reply) === undefined
          ? `WWW-Authenticate has no resource_metadata: ${header.slice(0, 150)}`
          : undefined,
      )
    },
  },
  {
    id: 'R274',
    level: 'must',
    revisions: D_TO_E,
    transports: HTTP,
    rule: 'Clients find the metadata by WWW-Authenticate, or at the well-known address.',
    how: 'Sends a request without a token, looks at the header, and otherwise at the well-known addresses.',
    fix: `Send WWW-Authenticate: Bearer resource_metadata="https://…", or serve ${WELL_KNOWN}.`,
    async check(subject) {
      const { isProtected, reply } = await withoutToken(subject)
      if (!isProtected) return OPEN
      if (!(await hasLogin(subject))) return OWN_KEY
      if (namedMetadata(reply) !== undefined) return passed
      return unless(
        (await metadataOf(subject, undefined)) === undefined
          ? 'there are neither resource_metadata in WWW-Authenticate nor a well-known document'
          : undefined,
      )
    },
  },
  {
    id: 'R279',
    level: 'must',
    revisions: C_TO_E,
    transports: HTTP,
    rule: 'A token that was issued for another service is refused.',
    how: 'Sends a token for another service, signed with a key of its own in the name of the authorization server.',
    fix: 'Verify the signature, the issuer and the audience of every token.',
    async check(subject) {
      const { isProtected, reply } = await withoutToken(subject)
      if (!isProtected) return OPEN
      const metadata = await metadataOf(subject, namedMetadata(reply))
      const servers = metadata?.['authorization_servers']
      const issuer = Array.isArray(servers) && typeof servers[0] === 'string' ? servers[0] : undefined
      const token = tokenOfAnother(issuer ?? 'https://issuer.invalid')
      const { status } = await ask(subject, { authorization: `Bearer ${token}` })
      return unless(status < 400 ? 'a token for another service is accepted' : undefined)
    },
  },
]

/** Whether a protected server names metadata, or has them, as all revisions after 2025-03-26 want it. */
export async function hasMetadata(subject: ServerSubject): Promise<boolean> {
  const { reply } = await withoutToken(subject)
  const named = namedMetadata(reply)
  return named !== undefined || (await metadataOf(subject, named)) !== undefined
}

/** Whether anything shows that clients can log in: metadata, a challenge that names them, or a token of the user that an issuer has signed. */
async function hasLogin(subject: ServerSubject): Promise<boolean> {
  const token = tokenOf(subject)
  return (token !== undefined && isJwt(token)) || hasMetadata(subject)
}

/** Whether a resource is the server: its URL, or the beginning of it, as clients compare them. */
function isResourceOf({ door }: ServerSubject, resource: string): boolean {
  if (door.url === undefined) return true
  if (!isUrl(resource)) return false
  const { origin, pathname } = parseUrl(resource)
  const path = pathname.replace(/\/+$/, '')
  return (
    origin === door.url.origin && (door.url.pathname === path || door.url.pathname.startsWith(`${path}/`))
  )
}

interface Bare {
  readonly isProtected: boolean
  readonly reply: HttpReply
}

/** The reply to a request without a token, once for all checks. */
function withoutToken(subject: ServerSubject): Promise<Bare> {
  return subject.once('without a token', async () => {
    const reply = await ask(subject, {})
    // Other refusals concern authorization only if our token is what makes the difference.
    const isProtected =
      reply.status === 401 || (reply.status >= 400 && tokenOf(subject) !== undefined && (await isIn(subject)))
    return { isProtected, reply }
  })
}

/** Whether the server answers with the headers of the user. */
async function isIn(subject: ServerSubject): Promise<boolean> {
  return subject.shared().then(
    () => true,
    () => false,
  )
}

/** The bearer token of the user. */
function tokenOf({ door }: ServerSubject): string | undefined {
  const [, value = ''] =
    Object.entries(door.headers ?? {}).find(([name]) => name.toLowerCase() === 'authorization') ?? []
  return /^Bearer +(\S+)$/i.exec(value)?.[1]
}

/** Sends a greeting with this header in the place of the user's token. */
async function ask(
  subject: ServerSubject,
  { authorization, query }: { readonly authorization?: string; readonly query?: string },
): Promise<HttpReply> {
  const session = await subject.silent()
  const { wire } = session
  if (!(wire instanceof HttpWire)) throw new Error('this check needs HTTP')
  const message = subject.isModern
    ? session.requestOf('server/discover', undefined)
    : initializeMessage(session.newId(), subject.revision)
  const url = parseUrl(wire.url.href)
  if (query !== undefined) url.search = url.search === '' ? `?${query}` : `${url.search}&${query}`
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...session.headersOf(message),
    authorization,
  }
  const reply = await wire.call('POST', headers, JSON.stringify(message), url)
  const id = reply.headers['mcp-session-id']
  // A session that began is ended with the conversation.
  if (id !== undefined) wire.more['mcp-session-id'] = id
  return reply
}

/** The address of the metadata in the header of a refusal. */
function namedMetadata({ headers }: HttpReply): string | undefined {
  return /\bresource_metadata\s*=\s*(?:"([^"]+)"|([^\s,"]+))/i
    .exec(headers['www-authenticate'] ?? '')
    ?.slice(1)
    .find((one) => one !== undefined)
}

function isOwn({ door }: ServerSubject, address: string): boolean {
  return isUrl(address) && parseUrl(address).origin === door.url?.origin
}

function originOf(address: string): string {
  return isUrl(address) ? parseUrl(address).origin : address.slice(0, 100)
}

/** The metadata of the server. Only its own origin is asked, and without the token. */
async function metadataOf(subject: ServerSubject, named: string | undefined): Promise<Message | undefined> {
  const { url } = subject.door
  if (url === undefined) return undefined
  const path = url.pathname.replace(/\/$/, '')
  const addresses = [
    ...(named !== undefined && isOwn(subject, named) ? [parseUrl(named)] : []),
    ...new Set([`${WELL_KNOWN}${path}`, WELL_KNOWN]),
  ]
  const wire = await subject.connectHttp()
  for (const address of addresses) {
    const place = address instanceof URL ? address : parseUrl(address, url)
    const { status, body } = await wire.call(
      'GET',
      { accept: 'application/json', authorization: undefined },
      undefined,
      place,
    )
    const found = status === 200 ? parsed(body) : undefined
    if (isObject(found)) return found
  }
  return undefined
}

function audienceOf({ door }: ServerSubject): string {
  return door.url === undefined ? '' : `${door.url.origin}${door.url.pathname}`
}
