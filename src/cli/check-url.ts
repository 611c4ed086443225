import { statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { checkLogin } from './check-login.ts'
import { orAborted } from '../base/backoff.ts'
import { TimeLimit } from '../base/time-limit.ts'
import type { Findings } from './finding.ts'
import type { Io } from './io.ts'
import { safeLine } from './safe-text.ts'
import { lookedUp, smallFetch, type SmallReply } from './small-fetch.ts'
import { redactedUrl } from './redaction.ts'
import { ownVersion } from './version.ts'
import { parseUrl } from '../protocol/url.ts'

const PATIENCE_MS = 10_000

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'ws:': 80, 'https:': 443, 'wss:': 443 }

/** Checks the way to a URL, one layer after the other. Resolves with whether it makes sense to go on. */
export async function checkUrl(
  text: string,
  headers: Readonly<Record<string, string>>,
  { env, signal }: Io,
  findings: Findings,
): Promise<boolean> {
  const url = parseUrl(text)
  if (url.protocol === 'unix:') return checkSocketFile(url, findings)
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = Number(url.port) || (PORTS[url.protocol] ?? 0)
  if (!(await checkName(host, findings, signal)) || !(await checkPort(host, port, env, findings, signal)))
    return false
  if (/^(?:https|wss|tls):$/.test(url.protocol) && !(await checkTls(host, port, url, findings, signal)))
    return false
  return /^https?:$/.test(url.protocol) ? checkHttp(url, headers, findings, signal) : true
}

function checkSocketFile({ pathname }: URL, findings: Findings): boolean {
  const path = decodeURIComponent(pathname)
  if (statSync(path, { throwIfNoEntry: false })?.isSocket() === true) {
    findings.ok(`${path} is a socket`)
    return true
  }
  findings.problem(`${path} is not a socket`, 'Start the server, or correct the path.')
  return false
}

async function checkName(host: string, findings: Findings, signal: AbortSignal): Promise<boolean> {
  findings.step(`looking up ${host} …`)
  try {
    const [{ address } = { address: host }] = await lookedUp(host, signal)
    if (address !== host) findings.ok(`${host} has the address ${address}`)
    return true
  } catch (error) {
    findings.problem(
      `the name ${host} cannot be resolved (${reasonOf(error)})`,
      'Check the spelling, the network and the VPN.',
    )
    return false
  }
}

/** Resolves when a socket is connected, and rejects when it fails or takes too long. */
async function connected(socket: Socket, event: string, signal: AbortSignal): Promise<void> {
  using limit = new TimeLimit(signal, PATIENCE_MS)
  const open = new Promise<void>((resolve, reject) => {
    socket.once(event, () => resolve())
    socket.on('error', reject)
  })
  try {
    await orAborted(open, limit.signal)
  } finally {
    socket.destroy()
  }
}

/** Why something failed, in one word if possible. */
function reasonOf(error: unknown): string {
  const { name, code, message } = error as NodeJS.ErrnoException
  return name === 'TimeoutError' ? 'ETIMEDOUT' : (code ?? message)
}

async function checkPort(
  host: string,
  port: number,
  env: Io['env'],
  findings: Findings,
  signal: AbortSignal,
): Promise<boolean> {
  findings.step(`connecting to ${host}:${port} …`)
  try {
    await connected(connect({ host, port }), 'connect', signal)
    findings.ok(`something listens at ${host}:${port}`)
    return true
  } catch (error) {
    const code = reasonOf(error)
    const proxy = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].find(
      (name) => (env[name] ?? '') !== '',
    )
    const advice =
      proxy === undefined
        ? ''
        : ` ${proxy} is set, but Node connects directly unless NODE_USE_ENV_PROXY=1 is set too (Node 24).`
    if (code === 'ECONNREFUSED')
      findings.problem(
        `nothing listens at ${host}:${port}`,
        `Start the server, or correct the port.${advice}`,
      )
    else
      findings.problem(
        `there is no connection to ${host}:${port} (${code})`,
        `Check that the server runs, and firewalls and proxies on the way.${advice}`,
      )
    return false
  }
}

/** What to do about errors of TLS, by their codes. */
const TLS_FIXES: readonly (readonly [RegExp, string])[] = [
  [
    /SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/,
    'Trust its authority: set NODE_EXTRA_CA_CERTS=ca.pem before you start the command.',
  ],
  [/HAS_EXPIRED/, 'Renew the certificate of the server, and check the clock of this computer.'],
  [/ALTNAME_INVALID/, 'Use a host name that is in the certificate, or issue one for this name.'],
  [/CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE/, 'The server may want a certificate of the client.'],
]

async function checkTls(
  host: string,
  port: number,
  { protocol }: URL,
  findings: Findings,
  signal: AbortSignal,
): Promise<boolean> {
  findings.step('checking the certificate …')
  try {
    await connected(
      connectTls({ host, port, ...(/[a-z]/i.test(host) && { servername: host }) }),
      'secureConnect',
      signal,
    )
    findings.ok('the certificate is valid')
    return true
  } catch (error) {
    const { message } = error as Error
    const code = reasonOf(error)
    const known = TLS_FIXES.find(([pattern]) => pattern.test(code))?.[1]
    const isPlain =
      /WRONG_VERSION|PACKET_LENGTH|EPROTO|ECONNRESET/.test(code) || /wrong version/i.test(message)
    findings.problem(
      `TLS fails: ${safeLine(code)}`,
      known ??
        (isPlain
          ? `The server may not use TLS there: try ${protocol.replace(/s:$/, ':').replace('tl:', 'tcp:')}//`
          : 'Check the certificate of the server.'),
    )
    return false
  }
}

/** The first request of a client of the most common revision. */
const initialize = (): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'pierhead-doctor', version: ownVersion() },
    },
  })

async function ask(
  url: URL,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<SmallReply> {
  const accept = 'application/json, text/event-stream'
  const sent = { ...headers, accept, 'content-type': 'application/json' }
  const reply = await smallFetch(url, { method: 'POST', headers: sent, body: initialize() }, signal)
  const session = reply.headers.get('mcp-session-id')
  if (session !== null)
    await smallFetch(
      url,
      { method: 'DELETE', headers: { ...headers, 'mcp-session-id': session } },
      signal,
    ).catch(() => undefined)
  return reply
}

async function checkHttp(
  url: URL,
  headers: Readonly<Record<string, string>>,
  findings: Findings,
  signal: AbortSignal,
): Promise<boolean> {
  if (url.username !== '' || url.password !== '') {
    findings.problem(
      'the URL has a user and a password',
      "Pass them in a header: --header 'Authorization: Basic …'.",
    )
    return false
  }
  let reply: SmallReply
  findings.step('waiting for an answer over HTTP …')
  try {
    reply = await ask(url, headers, signal)
  } catch (error) {
    const { cause, message } = error as Error
    const { code = message } = (cause ?? {}) as { readonly code?: string }
    findings.problem(
      `the server does not answer over HTTP (${safeLine(code)})`,
      url.protocol === 'http:'
        ? 'If the server uses TLS there, write https://.'
        : 'Look into the log of the server.',
    )
    return false
  }
  if (reply.status === 401) {
    await checkLogin(url, reply, findings, signal)
    return true
  }
  return judge(url, reply, findings, signal)
}

async function judge(url: URL, reply: SmallReply, findings: Findings, signal: AbortSignal): Promise<boolean> {
  const { status, headers, body } = reply
  const type = headers.get('content-type') ?? ''
  if (status === 404) return suggestPath(url, findings, signal)
  if (status === 403) return forbidden(body, findings)
  if (status >= 300 && status < 400) {
    const to = findings.redacted(headers.get('location') ?? '')
    findings.problem(
      `the server redirects to ${safeLine(redactedUrl(to), 300) || 'nowhere'}`,
      'Use that URL, if you trust it: clients do not follow redirects with credentials.',
    )
    return false
  }
  if (status >= 500) {
    findings.problem(
      `the server answers with status ${status}`,
      'Look into its log, and into that of a proxy before it.',
    )
    return false
  }
  if (/text\/html/i.test(type)) {
    findings.problem(
      'a web page is at this URL, not an MCP server',
      `Try ${url.origin}/mcp, or ask whoever runs it for the URL.`,
    )
    return false
  }
  if (status === 405 || (status === 400 && !/json/i.test(type)))
    findings.advise(
      `the server answers a POST with status ${status}`,
      'It may only know HTTP+SSE of 2024, which has a URL like /sse; update it to Streamable HTTP.',
    )
  else findings.ok(`the server answers over HTTP (status ${status})`)
  return true
}

/** A server that does not like the name by which it was called, or where the request comes from. */
function forbidden(body: string, findings: Findings): boolean {
  const [, what = ''] = /\b(host|origin)\b/i.exec(body) ?? []
  const fixes: Readonly<Record<string, string>> = {
    host: 'Add the name in this URL to the hosts that the server accepts (in Pierhead: listen({ http: { hosts } })), or use one of those.',
    origin: 'Add the origin to those that the server accepts (in Pierhead: listen({ http: { cors } })).',
  }
  findings.problem(
    `the server refuses the request (403): ${safeLine(findings.redacted(body), 200) || 'it does not say why'}`,
    fixes[what.toLowerCase()] ?? 'Check the credentials, and rules of a firewall or proxy before the server.',
  )
  return false
}

/** Looks for the server at the usual paths. Credentials are not sent there. */
async function suggestPath(url: URL, findings: Findings, signal: AbortSignal): Promise<boolean> {
  const found: string[] = []
  findings.step('looking for the server at other paths …')
  for (const path of ['/mcp', '/sse', '/', '/api/mcp']) {
    const other = parseUrl(path, url)
    if (other.pathname === url.pathname) continue
    const isThere = path === '/sse' ? answersSse(other, signal) : answersPost(other, signal)
    if (await isThere.catch(() => false)) found.push(other.href)
  }
  findings.problem(
    `nothing is served at ${safeLine(url.pathname, 200)} (404)`,
    found.length > 0
      ? `Use ${found.join(' or ')}.`
      : `The path is wrong; most servers are at ${url.origin}/mcp.`,
  )
  return false
}

async function answersPost(url: URL, signal: AbortSignal): Promise<boolean> {
  const { status, headers } = await ask(url, {}, signal)
  const isMcp = /application\/json|text\/event-stream/i.test(headers.get('content-type') ?? '')
  return status === 401 || (status < 500 && status !== 404 && isMcp)
}

async function answersSse(url: URL, signal: AbortSignal): Promise<boolean> {
  const { status, headers } = await smallFetch(url, { headers: { accept: 'text/event-stream' } }, signal)
  return status === 401 || (status === 200 && /text\/event-stream/i.test(headers.get('content-type') ?? ''))
}
