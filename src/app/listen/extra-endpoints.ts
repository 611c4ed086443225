import type { Membership } from '../membership.ts'
import type { GistOptions } from '../options.ts'
import type { WebHandler } from '../../transport/http/server/web-endpoint.ts'
import type { Endpoint } from '../../transport/http/server/endpoint.ts'
import type { EndpointOptions } from '../../transport/http/server/endpoint-options.ts'
import type { ServerService } from '../../server/service.ts'
import type { Replicas, Sharing } from '../../transport/http/server/replicas.ts'
import type { SharedSse } from '../../transport/sse/shared-streams.ts'

interface ExtraOptions {
  /** The nodes to share sessions with. */
  readonly nodes: Pick<Membership, 'join'>
  /** The path of the endpoint itself on our own listener; undefined for mounts. */
  readonly path?: string | undefined
  readonly sse: boolean
  readonly gist?: boolean | GistOptions
  /** Web handlers of plug-ins, by path. */
  readonly handlers?: ReadonlyMap<string, WebHandler>
}

/** Creates an HTTP endpoint, with the other endpoints that share its port. Each is loaded only if it is used. */
export async function createEndpoint(
  service: ServerService,
  options: EndpointOptions & ExtraOptions,
): Promise<Endpoint> {
  const { Endpoint } = await import('../../transport/http/server/endpoint.ts')
  const sharing = await options.nodes.join()
  const replicas = sharing && (await shareSessions(service, sharing, options))
  const endpoint = new Endpoint(service, { ...options, replicas })
  replicas?.begin(endpoint)
  const { sse, path, gist = false, handlers = new Map<string, WebHandler>() } = options
  const { authentication } = options
  const { limits, guard, authenticate, extraEndpoints } = endpoint
  const fail: Endpoint['fail'] = (...reply) => endpoint.fail(...reply)
  if (sse) {
    const { SseEndpoint } = await import('../../transport/sse/server.ts')
    const shared = sharing && (await shareStreams(service, sharing, options))
    extraEndpoints.push(new SseEndpoint(service, { limits, guard, authenticate, fail, path, shared }))
  }
  if (gist !== false) {
    const { GistEndpoint } = await import('../../gist/endpoint.ts')
    const { JobsEndpoint } = await import('../../gist/jobs.ts')
    const shared = { limits, guard, authenticate, authentication }
    const hasTasks = (): boolean => service.offers('tasks')
    extraEndpoints.push(
      new GistEndpoint(service, { ...shared, hasTasks, ...(gist === true ? {} : gist) }),
      new JobsEndpoint(service, shared),
    )
  }
  if (handlers.size > 0) {
    const { WebEndpoint } = await import('../../transport/http/server/web-endpoint.ts')
    extraEndpoints.push(new WebEndpoint(service, { limits, guard, authentication, fail, handlers }))
  }
  return endpoint
}

/** Lets other nodes serve the sessions of an endpoint. */
async function shareSessions(
  service: ServerService,
  sharing: Sharing,
  { limits }: EndpointOptions,
): Promise<Replicas> {
  const { Replicas } = await import('../../transport/http/server/replicas.ts')
  return new Replicas(sharing, service, limits)
}

/** Lets other nodes take messages for the streams of HTTP+SSE. */
async function shareStreams(
  service: ServerService,
  sharing: Sharing,
  { limits }: EndpointOptions,
): Promise<SharedSse> {
  const { SharedSse } = await import('../../transport/sse/shared-streams.ts')
  return new SharedSse(sharing, service, limits)
}
