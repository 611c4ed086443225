import { openEndpoint, serviceOf, type App } from '../app.ts'
import { checkOptions } from '../../base/options.ts'
import type { Context } from '../../server/context.ts'
import { listenHttp, type HttpListenOptions, type HttpServer } from '../../transport/http/server/listen.ts'
import { checkAuth } from '../auth.ts'
import type { EndpointChoice } from '../mounts.ts'
import type { Opener } from './listen.ts'
import { readTls, servedHosts } from './checks.ts'
import type { HttpOptions } from '../options.ts'
import { checkGist } from '../settings.ts'
import { HTTP_OPTIONS } from './options.ts'
import { parseUrl } from '../../protocol/url.ts'

/** Opens an HTTP listener. */
export const openHttp: Opener<'http'> = async (app, option) => {
  const options: HttpOptions = option === true ? {} : option
  checkOptions('listen http', options, HTTP_OPTIONS)
  checkGist('listen http', options)
  checkAuth('listen http', options.auth)
  const { host = '127.0.0.1', port = 3000, path = '/mcp', cors = [], sessions = true } = options
  const { sse = false, gist = false, trustProxy, auth } = options
  const hosts = servedHosts('listen http', host, options.hosts)
  const secure = await readTls('listen http tls', options.tls, serviceOf(app))
  const choice = { hosts, cors, sessions, sse, gist, trustProxy, auth, path }
  const server = await openListener(app, choice, { host, port, path, secure })
  return { ...server, tls: secure, ...(sse && { sse: parseUrl('/sse', server.url).href }) }
}

/** Opens an endpoint on a port of its own. */
export async function openListener(
  app: App<Context>,
  choice: EndpointChoice,
  options: HttpListenOptions,
): Promise<HttpServer> {
  const endpoint = await openEndpoint(app, choice)
  const grantsScopes = endpoint.authenticate !== undefined || options.secure?.givesScopes === true
  if (!grantsScopes) serviceOf(app).reportScopes()
  let server: HttpServer | undefined
  try {
    server = await listenHttp(endpoint, options)
    endpoint.authentication?.listening?.(server.url)
    for (const { entry, paths } of endpoint.extraEndpoints)
      if (entry !== undefined) endpoint.authentication?.addPath?.(entry, paths)
    return server
  } catch (error) {
    await (server ?? endpoint).close()
    throw error
  }
}
