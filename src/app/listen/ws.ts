import { hooksOf, serviceOf, type App } from '../app.ts'
import { checkAuth } from '../auth.ts'
import { openListener } from './http.ts'
import { readTls, servedHosts } from './checks.ts'
import type { Opener } from './listen.ts'
import { badOption, checkOptions } from '../../base/options.ts'
import type { Context } from '../../server/context.ts'
import type { HttpServer } from '../../transport/http/server/listen.ts'
import type { ServerTls } from '../../transport/tls/reload.ts'
import { serveWs } from '../../transport/ws/server.ts'
import type { WsOptions } from '../options.ts'
import { WS_OPTIONS } from './options.ts'
import { parseUrl } from '../../protocol/url.ts'

const WHERE = 'listen ws'

/** Opens WebSocket on the HTTP port if there is one and no other port is given, otherwise on its own port. */
export const openWs: Opener<'ws'> = async (app, option, opened) => {
  const options: WsOptions = option === true ? {} : option
  checkOptions(WHERE, options, WS_OPTIONS)
  checkAuth(WHERE, options.auth)
  const http = opened.get('http') as HttpServer | undefined
  const shares = http !== undefined && options.port === undefined
  if (shares) checkShared(options)
  const tls = shares ? undefined : await readTls(`${WHERE} tls`, options.tls, serviceOf(app))
  const server = shares ? http : await openPort(app, options, tls)
  const { pathname } = parseUrl(server.url)
  const { path = pathname } = options
  const url = parseUrl(path, server.url.replace(/^http/, 'ws')).href
  const ws = await serveWs(server.upgrades, await hooksOf(app).membership.join())
  server.upgrade(path, ws)
  if (shares) return { url, close: () => ws.close() }
  return { url, tls, retire: () => server.retire(), close: () => server.close() }
}

async function openPort(
  app: App<Context>,
  options: WsOptions,
  secure: ServerTls | undefined,
): Promise<HttpServer> {
  const { host = '127.0.0.1', port = 3000, path = '/mcp', cors = [] } = options
  const hosts = servedHosts(WHERE, host, options.hosts)
  const { trustProxy, auth } = options
  const choice = { hosts, cors, sessions: false, sse: false, trustProxy, auth, path }
  return openListener(app, choice, { host, port, path, secure, upgradesOnly: true })
}

function checkShared(options: WsOptions): void {
  const names = Object.keys(options) as readonly (keyof WsOptions)[]
  const own = names.find((name) => name !== 'path' && options[name] !== undefined)
  if (own === undefined && (options.path ?? '/').startsWith('/')) return
  const reason =
    own === undefined
      ? 'path must begin with /'
      : `WebSocket shares the port of http, so "${own}" is an option of http: write it there, or give ws its own port`
  throw badOption(WHERE, reason)
}
