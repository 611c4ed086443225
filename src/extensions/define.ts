import type { CallOptions } from '../client/options.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { metaKeyProblem } from '../protocol/meta.ts'
import { anything, callable, listOf, object, required, TEXT, type KindsOf } from '../base/kinds.ts'
import { checkOptions } from '../base/options.ts'
import type { AnySchema, Carrying, InputOf, OutputOf } from '../schema/schema.ts'
import type { Context } from '../server/context.ts'
import { install, type Host, type Served } from './install.ts'
import { remoteOf, type Requester } from './remote.ts'

/** One method of an extension. Its schemas determine the types on both sides. */
export interface MethodShape {
  /** A description for the documentation. Default: none. */
  readonly about?: string | undefined
  /** The schema of its params, an object. Default: none, so the handler gets `{}`. */
  readonly params?: AnySchema | Carrying | undefined
  /** The schema of its result, an object. The client checks it. Default: none, so any object is accepted. */
  readonly result?: AnySchema | Carrying | undefined
  /** Whether a client may repeat it if its answer is lost. Default: `false`. */
  readonly idempotent?: boolean | undefined
}

/** The methods of an extension by name: at most 64 letters, digits and _. */
export type MethodMap = Readonly<Record<string, MethodShape>>

/** The type without a schema: an empty object. */
type Nothing = Readonly<Record<string, never>>

type Taken<Shape> = Shape extends { readonly params: infer Schema } ? OutputOf<Schema> : Nothing
type Sent<Shape> = Shape extends { readonly params: infer Schema } ? InputOf<Schema> : Nothing
type Returned<Shape> = Shape extends { readonly result: infer Schema } ? InputOf<Schema> : JsonObject | void
type Received<Shape> = Shape extends { readonly result: infer Schema } ? OutputOf<Schema> : JsonObject

/** The functions that answer the methods of an extension. */
export type Handlers<Methods> = {
  readonly [Name in keyof Methods]: (
    params: Taken<Methods[Name]>,
    context: Context,
  ) => Returned<Methods[Name]> | Promise<Returned<Methods[Name]>>
}

/** The methods of an extension as a client calls them. */
export type Remote<Methods> = {
  readonly [Name in keyof Methods]: (
    ...args: Nothing extends Sent<Methods[Name]>
      ? [params?: Sent<Methods[Name]>, options?: CallOptions]
      : [params: Sent<Methods[Name]>, options?: CallOptions]
  ) => Promise<Received<Methods[Name]>>
}

/** What `defineExtension` needs to know. */
export interface ExtensionDefinition<Methods, Options, Api> {
  /** A name under your reversed domain: `com.example/tides`. */
  readonly id: string
  /** A description for the documentation. Default: none. */
  readonly about?: string | undefined
  /** Its methods; `next` of `com.example/tides` is called `com.example/tides/next`. Default: none. */
  readonly methods?: Methods | undefined
  /** The names of its notifications; `changed` is called `notifications/com.example/tides/changed`. Default: none. */
  readonly notices?: readonly string[] | undefined
  /** The settings that a server declares with the id. Default: `{}`. */
  readonly settings?: JsonObject | undefined
  /**
   * Creates the handlers of the methods, once per server; none if it answers them by other means. Default: only clients can
   * use the extension.
   */
  readonly serve?: ((options: Options, host: Host) => Handlers<Methods> | void) | undefined
  /** Creates a different API for clients. Default: one function for each method. */
  readonly client?: ((remote: Remote<Methods>, client: Requester) => Api) | undefined
}

/**
 * An extension: for a server `app.extend(it)` or, with options, `app.extend(it(options))`; for a client
 * `connect(target, { extensions: [it] })`, then `it.of(client)`.
 */
export interface Extension<Api, Options = undefined> extends Served {
  /** The extension with options, for `app.extend`. */
  (options?: Options): Served
  /** Its methods on the client's server. The client must have declared the extension. */
  of(client: Requester): Api
  /** Its description; empty if it has none. */
  readonly about: string
  /** Its methods by name, with their schemas. */
  readonly methods: MethodMap
  /** The names of its notifications. */
  readonly notices: readonly string[]
}

type Erased = ExtensionDefinition<unknown, never, unknown>
const DEFINITION: KindsOf<Erased> = {
  id: required(TEXT),
  about: TEXT,
  methods: anything<unknown>(),
  notices: listOf(TEXT),
  settings: object<JsonObject>(),
  serve: callable<NonNullable<Erased['serve']>>(),
  client: callable<NonNullable<Erased['client']>>(),
}
const ID = /^[^/]+\.[^/]+\/[^/]+$/
const NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/

/**
 * Defines an extension once for both sides.
 *
 * @example
 * const tides = defineExtension({
 *   id: 'com.example/tides',
 *   methods: { next: { params: z.object({ harbour: z.string() }), result: z.object({ at: z.string() }) } },
 *   serve: () => ({ next: ({ harbour }) => ({ at: highWater(harbour) }) }),
 * })
 * app.extend(tides)
 * const { at } = await tides.of(client).next({ harbour: 'Dover' })
 */
export function defineExtension<
  const Methods extends MethodMap = Readonly<Record<never, never>>,
  Options = undefined,
  Api = Remote<Methods>,
>(definition: ExtensionDefinition<Methods, Options, Api>): Extension<Api, Options> {
  check(definition as Erased)
  const { id, about = '', methods = {} as Methods, notices = [], client: face } = definition
  const served = (options?: Options): Served => ({
    id,
    install: (service, checkerOf) =>
      install({ ...definition, methods, notices, options } as never, service, checkerOf),
  })
  const of = (client: Requester): Api => {
    const remote = remoteOf(id, methods, client) as Remote<Methods>
    return face === undefined ? (remote as unknown as Api) : face(remote, client)
  }
  return Object.assign(served, { ...served(), of, about, methods, notices })
}

function check(definition: Erased): void {
  checkOptions('defineExtension', definition, DEFINITION)
  const { id, methods, notices = [] } = definition
  if (typeof id !== 'string' || !ID.test(id))
    throw badDefinition('the id must be a name under your reversed domain: "com.example/tides"')
  const problem = metaKeyProblem(id)
  if (problem !== undefined) throw badDefinition(`the id "${id}" cannot be used: ${problem}`)
  for (const name of [...Object.keys(methods ?? {}), ...notices]) {
    if (!NAME.test(name))
      throw badDefinition(`"${name}" is not a valid name: use at most 64 letters, digits and _`)
  }
}

function badDefinition(reason: string): Error {
  return mcpError(BAD_OPTION, { where: 'defineExtension', reason })
}
