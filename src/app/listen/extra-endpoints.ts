import type { GistOptions } from '../options.ts'
import type { Endpoint } from '../../transport/http/server/endpoint.ts'

/** Serves what was asked for beside an endpoint, each loaded when it is. */
export async function serveBeside(
  endpoint: Endpoint,
  { sse, gist = false }: { readonly sse: boolean; readonly gist?: boolean | GistOptions },
): Promise<void> {
  const { service, limits, guard, beside } = endpoint
  if (sse) {
    const { SseEndpoint } = await import('../../transport/sse/server.ts')
    beside.push(new SseEndpoint(service, { limits, guard, fail: (...reply) => endpoint.fail(...reply) }))
  }
  if (gist !== false) {
    const { GistEndpoint } = await import('../../gist/endpoint.ts')
    beside.push(new GistEndpoint(service, { limits, guard, ...(gist === true ? {} : gist) }))
  }
}
