import type { Findings } from './finding.ts'
import { safeLine } from './safe-text.ts'
import { readNamedJson, type SmallReply } from './small-fetch.ts'
import { isUrl, parseUrl } from '../protocol/url.ts'

type Document = Readonly<Record<string, unknown>>

/** Follows what a server that wants a login says: its metadata, its issuer, and the endpoints of that. */
export async function checkLogin(
  server: URL,
  { headers }: SmallReply,
  findings: Findings,
  signal: AbortSignal,
): Promise<void> {
  findings.ok('the server asks for a login (401)')
  const challenge = headers.get('www-authenticate') ?? ''
  const named = /\bresource_metadata="([^"]{1,2000})"/.exec(challenge)?.[1]
  const metadata = await findMetadata(server, named, findings, signal)
  if (metadata === undefined) return
  const issuers = metadata['authorization_servers']
  const issuer: unknown = Array.isArray(issuers) ? issuers[0] : undefined
  if (typeof issuer !== 'string' || !isUrl(issuer)) {
    findings.problem(
      'the metadata of the server names no issuer',
      'Add authorization_servers to it: [ "https://login.example" ].',
    )
    return
  }
  await checkIssuer(parseUrl(issuer), issuer, server, findings, signal)
}

/** The metadata of the server (RFC 9728): where the challenge says, or at the usual places. */
async function findMetadata(
  server: URL,
  named: string | undefined,
  findings: Findings,
  signal: AbortSignal,
): Promise<Document | undefined> {
  const path = server.pathname === '/' ? '' : server.pathname.replace(/\/$/, '')
  const usual = [...new Set([path, ''])].map(
    (end) => `${server.origin}/.well-known/oauth-protected-resource${end}`,
  )
  if (named === undefined)
    findings.advise(
      'the 401 does not say where the metadata of the server is',
      'Send WWW-Authenticate: Bearer resource_metadata="…".',
    )
  const places = named === undefined ? usual : [named]
  const reasons: string[] = []
  findings.step('reading the metadata of the server …')
  for (const place of places) {
    const url = isUrl(place) ? parseUrl(place) : undefined
    const shown = safeLine(findings.redacted(place), 300)
    if (url?.origin !== server.origin) {
      reasons.push(`${shown}: it is not on the origin of the server`)
      continue
    }
    try {
      const found = await readNamedJson(url, server, signal)
      findings.ok(`metadata of the server: ${shown}`)
      checkResource(found, server, findings)
      return found
    } catch (error) {
      reasons.push(`${shown}: ${(error as Error).message}`)
    }
  }
  findings.problem(
    `the server asks for credentials, but its metadata cannot be read (${reasons.join('; ')})`,
    'If it takes a token or an API key, set PIERHEAD_TOKEN or --header. If it is yours, publish the metadata: the guide "Protect a server" shows how.',
  )
  return undefined
}

function checkResource({ resource }: Document, server: URL, findings: Findings): void {
  const same = (text: string): string => text.replace(/\/$/, '')
  const url = same(server.origin + server.pathname)
  const isPrefix =
    typeof resource === 'string' && (url === same(resource) || url.startsWith(`${same(resource)}/`))
  if (!isPrefix)
    findings.problem(
      `the metadata is for ${wordOf(resource, findings)}, and not for ${url}`,
      'Use the URL that the metadata names, or correct resource on the server; behind a proxy, tell the server its public URL.',
    )
}

/** The metadata of the issuer (RFC 8414, or that of OpenID Connect). */
async function checkIssuer(
  issuer: URL,
  name: string,
  server: URL,
  findings: Findings,
  signal: AbortSignal,
): Promise<void> {
  const path = issuer.pathname === '/' ? '' : issuer.pathname.replace(/\/$/, '')
  const places = [
    `${issuer.origin}/.well-known/oauth-authorization-server${path}`,
    `${issuer.origin}/.well-known/openid-configuration${path}`,
    `${issuer.origin}${path}/.well-known/openid-configuration`,
  ]
  const reasons: string[] = []
  findings.step('asking the issuer …')
  for (const place of new Set(places)) {
    try {
      const metadata = await readNamedJson(parseUrl(place), server, signal)
      findings.ok(`issuer: ${wordOf(name, findings)}`)
      checkEndpoints(metadata, name, findings)
      return
    } catch (error) {
      reasons.push((error as Error).message)
    }
  }
  findings.problem(
    `the issuer ${wordOf(name, findings)} cannot be asked: ${[...new Set(reasons)].join('; ')}`,
    'Check that it runs and that its address is right in the metadata of the server.',
  )
}

function checkEndpoints(metadata: Document, name: string, findings: Findings): void {
  if (metadata['issuer'] !== name)
    findings.problem(
      `the metadata of the issuer is for ${wordOf(metadata['issuer'], findings)}`,
      'Both must be the same text, with or without a slash at the end.',
    )
  const missing = ['authorization_endpoint', 'token_endpoint'].filter(
    (key) => typeof metadata[key] !== 'string',
  )
  for (const key of missing)
    findings.problem(`the issuer names no ${key}`, 'Correct the metadata of the issuer.')
  if (missing.length === 0) findings.ok(`login page: ${wordOf(metadata['authorization_endpoint'], findings)}`)
  const methods = metadata['code_challenge_methods_supported']
  if (!Array.isArray(methods) || !methods.includes('S256'))
    findings.problem(
      'the issuer does not offer PKCE with S256, which clients require',
      'Turn it on at the issuer.',
    )
  const registers =
    typeof metadata['registration_endpoint'] === 'string' ||
    metadata['client_id_metadata_document_supported'] === true
  if (!registers)
    findings.advise(
      'the issuer does not register clients by itself',
      'Register this program there, and log in with pierhead auth login --client-id ID.',
    )
}

/** A member of metadata in one line. */
function wordOf(value: unknown, findings: Findings): string {
  return typeof value === 'string' ? safeLine(findings.redacted(value), 300) : 'nothing'
}
