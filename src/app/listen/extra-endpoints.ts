import type { GistOptions } from '../options.ts'
import type { Endpoint } from '../../transport/http/server/endpoint.ts'

/** Serves what was asked for beside an endpoint, each loaded when it is. */
export async function serveExtraEndpoints(
  endpoint: Endpoint,
  { sse, gist = false }: { readonly sse: boolean; readonly gist?: boolean | GistOptions },
): Promise<void> {
  const { service, limits, guard, extraEndpoints } = endpoint
  if (sse) {
    const { SseEndpoint } = await import('../../transport/sse/server.ts')
    extraEndpoints.push(
      new SseEndpoint(service, { limits, guard, fail: (...reply) => endpoint.fail(...reply) }),
    )
  }
  if (gist !== false) {
    const { GistEndpoint } = await import('../../gist/endpoint.ts')
    extraEndpoints.push(new GistEndpoint(service, { limits, guard, ...(gist === true ? {} : gist) }))
  }
}
