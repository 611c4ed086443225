import type { App } from './app.ts'
import { HTTP_OPTIONS, type HttpOptions } from './options.ts'
import { mcpError } from './protocol/errors.ts'
import { checkOptions } from './protocol/nearest.ts'
import type { Context } from './server/context.ts'
import { checkLists } from './settings.ts'
import { listenHttp, type HttpServer } from './transport/http/listen.ts'

const LOOPBACK = ['localhost', '127.0.0.1', '::1']

/** Opens a listener for HTTP with its options checked; what a server on stdio does not need. */
export async function openHttp<Ctx extends Context>(
  app: App<Ctx>,
  options: HttpOptions,
): Promise<HttpServer> {
  checkOptions('listen http', options, HTTP_OPTIONS)
  checkLists('listen http', options)
  const { host = '127.0.0.1', port = 3000, path = '/mcp', cors = [], sessions = true } = options
  if (!(Number(port) >= 0 && Number(port) < 65_536))
    throw mcpError('bad_option', { where: 'listen http port', reason: `${port} is no port; 0 means any` })
  const hosts = options.hosts ?? (LOOPBACK.includes(host) ? ['loopback'] : undefined)
  if (hosts === undefined) {
    const reason = `"${host}" can be reached from outside; name the hosts that clients will use, e.g. hosts: ['mcp.example.com']`
    throw mcpError('bad_option', { where: 'listen http', reason })
  }
  const scoped = [...app.service.tools.items.values()].find((tool) => tool.scopes !== undefined)
  if (scoped !== undefined) {
    const reason = `tool "${scoped.key}" needs scopes, but no authentication is set up`
    throw mcpError('bad_option', { where: 'listen http', reason })
  }
  return listenHttp(await app.endpoint({ hosts, cors, sessions }), { host, port, path })
}
