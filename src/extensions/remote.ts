import type { Client } from '../client/client.ts'
import type { CallOptions } from '../client/options.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_ANSWER } from '../errors/client.ts'
import { NOT_OFFERED } from '../errors/rpc.ts'
import { markReceived } from '../errors/where.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { AnySchema } from '../schema/schema.ts'
import { has } from './declared.ts'

/** The part of a client that an extension uses. */
export type Requester = Pick<Client, 'request' | 'server' | 'on'>

interface Shape {
  readonly result?: unknown
  readonly idempotent?: boolean | undefined
}

/** The methods of an extension on the client's server. */
export function remoteOf(
  id: string,
  methods: Readonly<Record<string, Shape>>,
  client: Requester,
): Readonly<Record<string, (params?: JsonObject, options?: CallOptions) => Promise<unknown>>> {
  const entries = Object.entries(methods).map(([name, shape]) => {
    const method = `${id}/${name}`
    const call = async (params: JsonObject = {}, options: CallOptions = {}): Promise<unknown> => {
      await requireServed(client, id, method, options)
      const idempotent = options.idempotent ?? shape.idempotent ?? false
      return checked(method, shape.result, await client.request(method, params, { ...options, idempotent }))
    }
    return [name, call] as const
  })
  return Object.fromEntries(entries)
}

/** Throws if the server did not declare the extension. */
export async function requireServed(
  client: Requester,
  id: string,
  method: string,
  options?: CallOptions,
): Promise<void> {
  const { capabilities } = await client.server(options)
  if (has(capabilities['extensions'], id) || has(capabilities['experimental'], id)) return
  throw markReceived(mcpError(NOT_OFFERED, { method, capability: `extensions["${id}"]` }))
}

async function checked(method: string, schema: unknown, result: JsonObject): Promise<unknown> {
  if (schema === undefined) return result
  const { toChecker } = await import('../schema/checker.ts')
  const verdict = await toChecker(schema as AnySchema, 'output').check(result)
  if (!verdict.ok) throw mcpError(BAD_ANSWER, { method, issue: verdict.issue })
  return verdict.value
}
