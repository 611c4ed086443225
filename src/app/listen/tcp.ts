import { authOf, serviceOf, type App } from '../app.ts'
import { readTls } from './checks.ts'
import type { Opened, Opener } from './listen.ts'
import { isLoopback } from '../../base/loopback.ts'
import { badOption, checkOptions } from '../../base/options.ts'
import type { Context } from '../../server/context.ts'
import { releaseStdout } from '../../transport/stdio/guard.ts'
import { fileDoor, portDoor } from '../../transport/tcp/doors.ts'
import { framingOf } from '../../transport/tcp/framings.ts'
import { listenTcp, type Door } from '../../transport/tcp/server.ts'
import type { UnixOptions } from '../options.ts'
import { TCP_OPTIONS, UNIX_OPTIONS } from './options.ts'

const UNAUTHENTICATED =
  'auth does not apply to tcp, which has no tokens, so callers there are not authenticated; ' +
  'ask for certificates with tcp: { tls: { key, cert, ca } }, or remove tcp'

/** Opens a TCP listener, with TLS if the options ask for it. */
export const openTcp: Opener<'tcp'> = async (app, options) => {
  checkOptions('listen tcp', options, TCP_OPTIONS)
  const { host = '127.0.0.1', port, tls: given, insecure = false } = options
  const tls = await readTls('listen tcp tls', given, serviceOf(app))
  if (!isLoopback(host) && !insecure && tls?.asksClients !== true) {
    const reason =
      `"${host}" can be reached by other machines; ask clients for certificates with tls: { key, cert, ca }, ` +
      'or write insecure: true if only trusted machines can reach it'
    throw badOption('listen tcp', reason)
  }
  const framing = framingOf(options.framing)
  const auth = authOf(app)
  if (auth !== undefined && auth !== false && tls?.asksClients !== true)
    serviceOf(app).warnOnce('auth', 'tcp', UNAUTHENTICATED)
  if (tls?.givesScopes !== true) serviceOf(app).reportScopes()
  return { ...(await open(app, portDoor(host, port, { tls, framing }))), tls }
}

/** Opens a Unix socket. */
export const openUnix: Opener<'unix'> = async (app, option) => {
  const options: UnixOptions = typeof option === 'string' ? { path: option } : option
  checkOptions('listen unix', options, UNIX_OPTIONS)
  const { path, mode = 0o600, scopes } = options
  const framing = framingOf(options.framing)
  return open(app, fileDoor(path, mode, { framing, ...(scopes && { scopes }) }))
}

function open(app: App<Context>, door: Door): Promise<Opened> {
  releaseStdout()
  return listenTcp(door, { service: serviceOf(app), limits: app.limits })
}
