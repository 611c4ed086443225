import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { RefusalName } from '../protocol/refusals.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_DEFINITION } from '../errors/server.ts'
import type { Checker } from '../schema/checker.ts'
import type { AnySchema } from '../schema/schema.ts'
import type { Context } from '../server/context.ts'
import { toNotice } from '../rpc/changes.ts'
import { later } from '../server/later.ts'
import type { ServerService } from '../server/service.ts'
import { isFor } from './declared.ts'

/** Compiles a schema; throws an error that names the item if it is unusable. */
export type CheckerOf = (item: string, schema: AnySchema) => Checker

/** The part of a server that an extension uses. */
export interface Host {
  /** @internal */
  readonly service: ServerService
  /** Notifies every client that declared the extension and, at 2026-07-28, listens for it. */
  notify(name: string, params?: JsonObject): void
}

/** An extension in the form that `app.extend` accepts. */
export interface Served {
  /** The name under which both sides declare it, such as `com.example/tides`. */
  readonly id: string
  /**
   * Adds it to a server; users call `app.extend` instead.
   * @internal
   */
  install(service: ServerService, checkerOf: CheckerOf): void
}

/** A definition with its types erased. */
export interface Installed {
  readonly id: string
  readonly methods: Readonly<Record<string, { readonly params?: AnySchema }>>
  readonly notices: readonly string[]
  readonly settings?: JsonObject
  readonly options: unknown
  readonly serve?: (options: unknown, host: Host) => Readonly<Record<string, Run>> | undefined
}

/** Answers one method. */
export type Run = (params: unknown, context: Context) => unknown

/** Adds an extension to a server. */
export function install(extension: Installed, service: ServerService, checkerOf: CheckerOf): void {
  const { id, methods, serve, settings = {} } = extension
  const item = `extension "${id}"`
  if (service.extensions.has(id))
    throw badDefinition(item, 'it was already added to this server', 'ENTITY_DUPLICATE')
  if (serve === undefined) throw badDefinition(item, 'it has no serve function, so only clients can use it')
  const handlers = serve(extension.options, { service, notify: notifier(extension, service) })
  for (const [name, { params }] of Object.entries(handlers === undefined ? {} : methods)) {
    const method = `${id}/${name}`
    const run = handlers?.[name]
    if (typeof run !== 'function') throw badDefinition(item, `serve returns no handler for "${name}"`)
    const checker = params === undefined ? undefined : checkerOf(`${item}, ${name}`, params)
    const parts = { id, checker, run }
    service.methods.set(
      method,
      later(answering, ({ answer }, context) => answer(parts, context)),
    )
  }
  service.extensions.set(id, { settings, isFor: (peer) => isFor(peer, id) })
}

const answering = () => import('./answer.ts')

function notifier({ id, notices }: Installed, service: ServerService): Host['notify'] {
  return (name, given = {}) => {
    if (!notices.includes(name))
      throw badDefinition(`extension "${id}"`, `"${name}" is not one of its notices`)
    const method = `notifications/${id}/${name}`
    const params = Object.freeze({ ...given })
    service.changes.publish(toNotice({ id, method, params }, (peer) => isFor(peer, id)))
  }
}

function badDefinition(item: string, reason: string, refusal?: RefusalName): Error {
  return mcpError(BAD_DEFINITION, { item, reason }, refusal === undefined ? {} : { refusal })
}
