import { McpError, mcpError } from '../errors/error.ts'
import { BAD_ANSWER, NO_REVISION } from '../errors/client.ts'
import { UNKNOWN_METHOD } from '../errors/rpc.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import { TASKS_EXTENSION } from '../protocol/meta.ts'
import { LATEST, REVISIONS, isRevision, type Revision } from '../protocol/revisions.ts'
import type { ClientTransport } from '../rpc/client-transport.ts'
import { orAborted } from '../base/backoff.ts'
import { exchange, openingDeadline, toAgreement } from './first-exchange.ts'
import { NOT_UNDERSTOOD, type Agreement, type NegotiateOptions, type Opened } from './negotiate.ts'
import { loadAnswers } from './load-answers.ts'
import { formsOf } from './older-forms.ts'
import { Questions } from './questions.ts'
import { encodeNotification } from './encode-call.ts'

const HANDSHAKE_REVISIONS = REVISIONS.filter((revision) => revision !== LATEST)

/** Agrees on a revision with `initialize`. If the server has only the transport of 2024-11-05, it uses that. */
export async function handshake(transport: ClientTransport, options: NegotiateOptions): Promise<Opened> {
  const { remembered, signal, timeoutMs } = options
  const known = remembered === 'older'
  let rejection: Error = mcpError(UNKNOWN_METHOD, { method: 'initialize', revision: REVISIONS[0] })
  if (!known) {
    try {
      return { transport, agreement: await initialize(transport, options), mode: 'handshake', Questions }
    } catch (error) {
      // The server speaks this transport, so there is no need to try an older one.
      if (remembered === 'handshake' || isFromLatest(error) || signal.aborted) throw error
      rejection = error as Error
    }
  }
  const older = await transport.older?.({ known, timeoutMs, signal })
  if (older === undefined) throw rejection
  await transport.close()
  try {
    return { transport: older, agreement: await initialize(older, options), mode: 'older', Questions }
  } catch (error) {
    await older.close()
    throw error
  }
}

/** Whether a failed handshake may mean that the server no longer supports handshakes. */
export function mayLackHandshake(error: unknown): boolean {
  if (!(error instanceof McpError) || NOT_FROM_SERVER.has(error.kind)) return false
  return error.kind !== 'http_failed' || NOT_UNDERSTOOD.has(error.data?.['status'])
}

/** Errors that say nothing about the server. */
const NOT_FROM_SERVER: ReadonlySet<string> = new Set([
  'timeout',
  'connect_failed',
  'connection_closed',
  'stream_lost',
  'session_lost',
  'closed',
  'bad_option',
  'login_failed',
  'login_needed',
])

/** Whether only servers of the newest revision send this error. */
function isFromLatest(error: unknown): boolean {
  return error instanceof McpError && error.code >= -32022 && error.code <= -32020
}

/** Converts capabilities to the form of the handshake: roots may change, and extensions other than tasks are experimental. */
function toHandshakeForm({ extensions, ...capabilities }: JsonObject, proposed: Revision): JsonObject {
  const { sampling, elicitation, roots } = capabilities
  const { [TASKS_EXTENSION]: _, ...experimental } = (extensions ?? {}) as JsonObject
  const requests = {
    sampling: sampling && { createMessage: {} },
    elicitation: elicitation && { create: {} },
  }
  const runsTasks = proposed === '2025-11-25' && (sampling ?? elicitation) !== undefined
  return {
    ...capabilities,
    roots: roots && { listChanged: true },
    tasks: runsTasks ? { list: {}, cancel: {}, requests } : undefined,
    experimental: Object.keys(experimental).length === 0 ? undefined : experimental,
  }
}

/** Proposes the newest revision that has a handshake. If the server rejects it and lists others, it proposes one of those. */
async function initialize(transport: ClientTransport, options: NegotiateOptions): Promise<Agreement> {
  const { revision: wanted } = options
  if (wanted !== undefined) return propose(transport, wanted, options)
  try {
    return await propose(transport, HANDSHAKE_REVISIONS.at(-1) as Revision, options)
  } catch (error) {
    const supported = error instanceof McpError ? error.data?.['supported'] : undefined
    const known = HANDSHAKE_REVISIONS.slice(0, -1).findLast(
      (revision) => Array.isArray(supported) && supported.includes(revision),
    )
    if (known === undefined) throw error
    return propose(transport, known, options)
  }
}

async function propose(
  transport: ClientTransport,
  proposed: Revision,
  options: NegotiateOptions,
): Promise<Agreement> {
  const { client, capabilities } = options.sender()
  const params = {
    protocolVersion: proposed,
    capabilities: toHandshakeForm(capabilities, proposed),
    clientInfo: client,
  }
  const forms = formsOf(proposed, options.dialects)
  const exchanged = exchange(transport, 'initialize', params, { revision: proposed, forms }, options)
  // A server may ask at once, and so often that there is little time to load anything.
  const [result] = await Promise.all([exchanged, loadAnswers()])
  const { protocolVersion: offered, capabilities: declared, serverInfo } = result
  if (typeof offered !== 'string') throw badResult('protocolVersion is missing')
  if (!isObject(declared) || !isObject(serverInfo)) throw badResult('capabilities or serverInfo is missing')
  if (
    !isRevision(offered) ||
    offered === LATEST ||
    (options.revision !== undefined && offered !== options.revision)
  ) {
    const shown = offered.slice(0, 64)
    throw mcpError(NO_REVISION, { offered: shown }, { data: { supported: [shown] } })
  }
  transport.agree(offered)
  const wire = { revision: offered, forms: formsOf(offered, options.dialects) }
  const initialized = 'notifications/initialized'
  const sent = transport.send(encodeNotification(initialized, {}, wire.forms))
  const deadline = openingDeadline(initialized, options)
  await orAborted(sent, deadline.signal).finally(() => deadline.end())
  return toAgreement(wire, serverInfo, result)
}

function badResult(issue: string): McpError {
  return mcpError(BAD_ANSWER, { method: 'initialize', issue })
}
