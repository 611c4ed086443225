import { markReceived } from '../errors/where.ts'
import type { JsonObject, Message } from '../protocol/jsonrpc.ts'
import { methodRow } from '../protocol/methods.ts'
import { LATEST } from '../protocol/revisions.ts'
import type { Deadline } from '../rpc/deadline.ts'
import type { Live, RequestOptions } from './connection-options.ts'
import { encodeCall, headersOf, type Sender } from './encode-call.ts'
import { toRemoteError } from './first-exchange.ts'
import type { Ids } from './ids.ts'
import { requireOffered } from './offered.ts'
import { progressOf, sendCancelled } from './request-end.ts'
import { readResult } from './results.ts'

/** One attempt at a request. */
export interface Exchange {
  readonly method: string
  readonly params: JsonObject
  readonly options: RequestOptions
  readonly deadline: Deadline
  /** Whether the connection was opened for the request. */
  readonly opens: boolean
}

/** The parts of a connection that all requests share. */
export interface ExchangeHost {
  readonly ids: Ids
  readonly sender: Sender
  /** Receives what the server sends besides the answer. */
  onMessage(message: Message): void
  /** Called when the server has answered. */
  onAnswer(): void
}

/** Sends a request on a connection, and reads its result. */
export async function exchange(
  live: Live,
  { ids, sender, onMessage, onAnswer }: ExchangeHost,
  { method, params, options, deadline, opens }: Exchange,
): Promise<JsonObject> {
  const { transport, agreement } = live
  const { revision, forms } = agreement
  if (options.undeclared !== true) requireOffered(agreement, method)
  if (!opens && transport.confirm !== undefined) await transport.confirm(method, deadline.signal)
  const id = ids.next()
  options.onId?.(id)
  const wantsProgress =
    methodRow(method)?.rounds === true || (options.undeclared === true && options.onProgress !== undefined)
  const text = encodeCall({ id, method, params, revision, forms, sender, wantsProgress })
  ids.begin(id, wantsProgress ? progressOf(options, deadline) : undefined)
  try {
    const answer = await transport.request({
      id,
      method,
      text,
      headers: () => ({
        ...options.headers,
        ...(revision === LATEST && headersOf(method, params, options.paramHeaders)),
      }),
      auth: options.auth,
      opens,
      cancel: deadline,
      onMessage,
    })
    if (options.isOwn !== true) onAnswer()
    if (answer.error !== undefined) throw await toRemoteError(answer.error, forms)
    return readResult(method, answer.result ?? {}, agreement, params['task'] && id)
  } catch (error) {
    // Not awaited: a server that does not answer may not accept the notification either.
    if (deadline.aborted && transport.cancels === 'message') void sendCancelled(live, id, deadline.reason)
    throw deadline.aborted ? deadline.reason : markReceived(error)
  } finally {
    ids.end(id, params['task'] !== undefined)
  }
}
