import type { Membership } from '../membership.ts'
import type { GistOptions } from '../options.ts'
import type { WebHandler } from '../../transport/http/server/web-endpoint.ts'
import type { Endpoint, EndpointOptions } from '../../transport/http/server/endpoint.ts'
import type { ServerService } from '../../server/service.ts'
import type { Replicas } from '../../transport/http/server/replicas.ts'

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
  const replicas = await shareSessions(service, options)
  const endpoint = new Endpoint(service, { ...options, replicas })
  replicas?.begin(endpoint)
  const { sse, path, gist = false, handlers = new Map<string, WebHandler>() } = options
  const { authentication } = options
  const { limits, guard, authenticate, extraEndpoints } = endpoint
  const fail: Endpoint['fail'] = (...reply) => endpoint.fail(...reply)
  if (sse) {
    const { SseEndpoint } = await import('../../transport/sse/server.ts')
    extraEndpoints.push(new SseEndpoint(service, { limits, guard, authenticate, fail, path }))
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

/** Joins the other nodes; undefined if there can be none. */
async function shareSessions(
  service: ServerService,
  { nodes, limits }: ExtraOptions & EndpointOptions,
): Promise<Replicas | undefined> {
  const sharing = await nodes.join()
  if (sharing === undefined) return undefined
  const { Replicas } = await import('../../transport/http/server/replicas.ts')
  return new Replicas(sharing, service, limits)
}
