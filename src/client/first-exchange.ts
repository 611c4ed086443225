import type { McpError } from '../errors/error.ts'
import type { ErrorObject, JsonObject } from '../protocol/jsonrpc.ts'
import { LATEST } from '../protocol/revisions.ts'
import { Deadline } from '../rpc/deadline.ts'
import type { ClientTransport } from '../rpc/client-transport.ts'
import type { Forms } from './forms.ts'
import type { Agreement, NegotiateOptions } from './negotiate.ts'
import { checkResult } from './results.ts'
import { headersOf, encodeCall } from './encode-call.ts'

/** The revision in which something is said, and its forms. */
export type Spoken = Pick<Agreement, 'revision' | 'forms'>

/** The agreement that the word of a server on itself amounts to. */
export function agreed(spoken: Spoken, server: JsonObject | undefined, result: JsonObject): Agreement {
  const { instructions } = result
  return {
    ...spoken,
    server,
    capabilities: result['capabilities'] as JsonObject,
    instructions: typeof instructions === 'string' ? instructions : undefined,
  }
}

/** Sends a request before anything is agreed on. */
export async function exchange(
  transport: ClientTransport,
  method: string,
  params: JsonObject,
  spoken: Spoken,
  options: NegotiateOptions,
): Promise<JsonObject> {
  const cancel = patience(method, options)
  const id = options.nextId()
  try {
    const answer = await transport.request({
      id,
      method,
      text: encodeCall({ id, method, params, ...spoken, sender: options.sender(), wantsProgress: false }),
      headers: () => (spoken.revision === LATEST ? headersOf(method, params) : {}),
      cancel,
      onMessage: options.events.onMessage,
    })
    if (answer.error !== undefined) throw await toRemoteError(answer.error, spoken.forms)
    const { adapter } = spoken.forms
    const result = answer.result ?? {}
    return checkResult(method, adapter === undefined ? result : adapter.decodeResult(method, result))
  } finally {
    cancel.end()
  }
}

/** The error that a server answered with; what tells errors apart is loaded with the first. */
export async function toRemoteError(error: ErrorObject, { adapter }: Forms): Promise<McpError> {
  const { fromErrorObject } = await import('../errors/remote.ts')
  return fromErrorObject(error, adapter?.meaning)
}

/** Ends when a server has been silent for too long, or nobody wants the connection any more. */
export function patience(method: string, { timeoutMs, signal }: NegotiateOptions): Deadline {
  return new Deadline({ method, idleMs: timeoutMs, totalMs: Infinity, signal })
}
