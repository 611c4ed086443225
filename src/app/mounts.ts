import { badOption } from '../base/options.ts'
import type { ServerResponse } from 'node:http'
import { onWorkers } from '../base/runtime.ts'
import { toErrorObject } from '../errors/reply.ts'
import { mask } from '../rpc/mask.ts'
import type { Service } from '../rpc/service.ts'
import type { AuthMethod } from '../transport/http/server/auth-method.ts'
import type { Endpoint } from '../transport/http/server/endpoint.ts'
import type { FetchExtras } from '../transport/http/server/fetch.ts'
import type { Execution } from '../transport/http/server/lifetime.ts'
import { within } from '../transport/io/timer.ts'
import type { ServerUse } from '../transport/io/server-use.ts'
import type { TrustProxy } from '../transport/http/server/proxy.ts'
import { isStream } from '../transport/http/server/node-request.ts'
import { encodeError } from '../wire/reply.ts'
import { releaseStdout } from '../transport/stdio/guard.ts'
import type { AuthOption } from './auth.ts'
import { checkNodeObjects, checkRequest } from './misuse.ts'
import type { GistOptions, MountOptions } from './options.ts'
import { checkMount } from './settings.ts'
import type { NodeListener } from './types.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

/** Answers a web request. */
export type FetchHandler = (request: Request, extras?: FetchExtras) => Promise<Response>

/** Answers a web request, with the arguments that a Worker gets. */
export type Fetch = (request: Request, env?: unknown, execution?: Execution) => Promise<Response>

/** The options of an HTTP endpoint, with their defaults. */
export interface EndpointChoice {
  readonly hosts: readonly string[] | undefined
  readonly cors: readonly string[]
  readonly sessions: boolean
  readonly sse: boolean
  readonly gist?: boolean | GistOptions
  readonly trustProxy?: TrustProxy | undefined
  /** Default: the option of the server. */
  readonly auth?: AuthOption | undefined
  /** The path on our own listener; undefined for mounts. */
  readonly path?: string | undefined
}

/** The handlers that web frameworks call. Each endpoint is opened with its first request. */
export class Mounts {
  readonly #open: (choice: EndpointChoice) => Promise<Endpoint>
  readonly #nodes = new Map<string, NodeListener>()
  readonly #webs = new Map<string, FetchHandler>()
  readonly #authNumbers = new WeakMap<AuthMethod, number>()
  #authCount = 0
  #fetch: Fetch | undefined
  #closed = false
  readonly #use: ServerUse | undefined
  readonly #service: Service

  /** `use` starts the server with the first request to any of them. */
  constructor(
    open: (choice: EndpointChoice) => Promise<Endpoint>,
    use: ServerUse | undefined,
    service: Service,
  ) {
    this.#open = open
    this.#use = use
    this.#service = service
  }

  node(options: MountOptions): NodeListener {
    if (onWorkers) throw badOption('app.node', 'on Workers, export the app: export default app')
    return this.#mount('node', this.#nodes, options, (opened) => {
      let serve: NodeListener | undefined
      return (request, response, body) => {
        checkNodeObjects(request, response)
        // Without a listener, a stream error would end the process, even if the request is rejected before its body is read.
        if (isStream(body)) body.on('error', () => undefined)
        if (serve !== undefined) return serve(request, response, body)
        void Promise.all([opened(), import('#node')]).then(
          async ([endpoint, { serveNode, failNode }]) => {
            const problem = await this.#start()
            if (problem !== undefined) return failNode(endpoint, request as never, response as never, problem)
            serve ??= serveNode(endpoint) as unknown as NodeListener
            serve(request, response, body)
          },
          (error: unknown) => {
            const unopened = response as unknown as ServerResponse
            unopened.writeHead(500, JSON_TYPE).end(this.#failure(error))
          },
        )
      }
    })
  }

  get fetch(): Fetch {
    if (this.#fetch !== undefined) return this.#fetch
    const serve = this.fetchWith({})
    // Other arguments of runtimes, such as an environment, must not be taken for the caller.
    return (this.#fetch = (request, _env, execution) => serve(request, { execution }))
  }

  fetchWith(options: MountOptions): FetchHandler {
    return this.#mount('fetchWith', this.#webs, options, (opened) => {
      let serve: FetchHandler | undefined
      return async (request, extras) => {
        checkRequest(request)
        if (serve !== undefined) return serve(request, extras)
        const loading = Promise.all([opened(), import('../transport/http/server/fetch.ts')])
        const loaded = await loading.catch((error: unknown) => this.#failure(error))
        if (typeof loaded === 'string') return new Response(loaded, { status: 500, headers: JSON_TYPE })
        const [endpoint, { serveFetch, failFetch }] = loaded
        const starting = this.#start()
        // If the client disconnects, Workers would stop the hook, and other requests would wait for it in vain.
        if (this.#use !== undefined) extras?.execution?.waitUntil?.(starting)
        const problem = await starting
        if (problem !== undefined) return failFetch(endpoint, request, problem)
        serve ??= serveFetch(endpoint)
        return serve(request, extras)
      }
    })
  }

  /** Closes endpoints that are opened from now on, so that every mount rejects requests. */
  close(): void {
    this.#closed = true
  }

  /** Ends their use of the server, which stops unless others use it. A hook that still runs after `limitMs` is not waited for. */
  async end(limitMs: number): Promise<void> {
    const use = this.#use
    // The server may still be starting, and has as long again to stop.
    if (use !== undefined) await within(2 * limitMs, (done) => void use.end().then(done))
  }

  /** Starts the server; returns an error for the client if that fails. */
  async #start(): Promise<unknown> {
    if (this.#closed) return undefined
    return this.#use?.start().then(
      () => undefined,
      (error: unknown) => error,
    )
  }

  /** The reply to a request while the endpoint cannot be opened. */
  #failure(thrown: unknown): string {
    const dialect = this.#service.dialects['2025-11-25']
    const error = mask(this.#service, thrown, { what: 'opening the mount', call: undefined })
    return encodeError(undefined, toErrorObject(error, dialect), dialect)
  }

  async #openUnlessClosed(choice: EndpointChoice): Promise<Endpoint> {
    const endpoint = await this.#open(choice)
    if (this.#closed) await endpoint.close()
    return endpoint
  }

  /** Names a value of the option `auth`: methods are told apart by identity, since their functions are not visible. */
  #authKey(auth: AuthOption | undefined): unknown {
    if (auth === undefined || auth === false) return auth
    return [auth].flat().map((method) => {
      const number = this.#authNumbers.get(method) ?? ++this.#authCount
      this.#authNumbers.set(method, number)
      return number
    })
  }

  /** The same options return the same mount, so a framework may create one for each request and keep its sessions. */
  #mount<Mount>(
    where: string,
    mounts: Map<string, Mount>,
    options: MountOptions,
    create: (opened: () => Promise<Endpoint>) => Mount,
  ): Mount {
    const {
      hosts,
      cors = [],
      sessions = true,
      sse = false,
      gist = false,
      trustProxy,
      auth,
    } = checkMount(where, options)
    const choice = { hosts, cors, sessions, sse, gist, trustProxy, auth }
    releaseStdout()
    const key = JSON.stringify({ ...choice, auth: this.#authKey(auth) })
    let mount = mounts.get(key)
    if (mount === undefined) {
      let endpoint: Promise<Endpoint> | undefined
      const open = (): Promise<Endpoint> =>
        this.#openUnlessClosed(choice).catch((error: unknown) => {
          endpoint = undefined
          throw error
        })
      mount = create(() => (endpoint ??= open()))
      mounts.set(key, mount)
    }
    return mount
  }
}
