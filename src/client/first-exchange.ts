import type { McpError } from '../errors/error.ts'
import type { ErrorObject, JsonObject } from '../protocol/jsonrpc.ts'
import { LATEST } from '../protocol/revisions.ts'
import { Deadline } from '../rpc/deadline.ts'
import type { ClientTransport } from '../rpc/client-transport.ts'
import type { Forms } from './forms.ts'
import type { Agreement, NegotiateOptions } from './negotiate.ts'
import { checkResult } from './results.ts'
import { headersOf, encodeCall } from './encode-call.ts'

/** A revision and the forms of its messages. */
export type RevisionForms = Pick<Agreement, 'revision' | 'forms'>

/** Builds the agreement from the first result of a server. */
export function toAgreement(
  wire: RevisionForms,
  server: JsonObject | undefined,
  result: JsonObject,
): Agreement {
  const { instructions } = result
  return {
    ...wire,
    server,
    capabilities: result['capabilities'] as JsonObject,
    instructions: typeof instructions === 'string' ? instructions : undefined,
  }
}

/** Sends a request before there is an agreement. */
export async function exchange(
  transport: ClientTransport,
  method: string,
  params: JsonObject,
  wire: RevisionForms,
  options: NegotiateOptions,
): Promise<JsonObject> {
  const cancel = openingDeadline(method, options)
  const id = options.nextId()
  try {
    const answer = await transport.request({
      id,
      method,
      text: encodeCall({ id, method, params, ...wire, sender: options.sender(), wantsProgress: false }),
      headers: () => (wire.revision === LATEST ? headersOf(method, params) : {}),
      cancel,
      onMessage: options.events.onMessage,
    })
    if (answer.error !== undefined) throw await toRemoteError(answer.error, wire.forms)
    const { adapter } = wire.forms
    const result = answer.result ?? {}
    return checkResult(method, adapter === undefined ? result : adapter.decodeResult(method, result))
  } finally {
    cancel.end()
  }
}

/** Converts an error response. The code for this is loaded with the first one. */
export async function toRemoteError(error: ErrorObject, { adapter }: Forms): Promise<McpError> {
  const { fromErrorObject } = await import('../errors/remote.ts')
  return fromErrorObject(error, adapter?.meaning)
}

/** Aborts if the server does not answer in time, or if the connection is no longer needed. */
export function openingDeadline(method: string, { timeoutMs, signal, events }: NegotiateOptions): Deadline {
  return new Deadline({ method, idleMs: timeoutMs, totalMs: Infinity, signal, clock: events.clock })
}
