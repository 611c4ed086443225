import { McpError, mcpError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { LATEST, REVISIONS, isRevision, type Revision } from '../protocol/revisions.ts'
import { said } from '../protocol/said.ts'
import type { Line } from '../rpc/line.ts'
import { orAborted } from './backoff.ts'
import { agreed, exchange, patience } from './first-exchange.ts'
import { formsOf } from './forms.ts'
import type { Agreement, NegotiateOptions, Opened } from './negotiate.ts'
import { sealNote } from './seal-call.ts'

const SHAKEN = REVISIONS.filter((revision) => revision !== LATEST)

/** Agrees on one of the revisions that begin with `initialize`, over an older transport where the server has no other. */
export async function shakeHands(line: Line, options: NegotiateOptions): Promise<Opened> {
  const { remembered, signal, timeoutMs } = options
  const known = remembered === 'older'
  let refusal: Error = mcpError('unknown_method', { method: 'initialize', revision: REVISIONS[0] })
  if (!known) {
    try {
      return { line, agreement: await agreeOn(line, options), verdict: 'handshake' }
    } catch (error) {
      // What is known to speak this transport, or says so, has no need of an older one.
      if (remembered === 'handshake' || isNewest(error) || signal.aborted) throw error
      refusal = error as Error
    }
  }
  const older = await line.older?.({ known, timeoutMs, signal })
  if (older === undefined) throw refusal
  await line.close()
  try {
    return { line: older, agreement: await agreeOn(older, options), verdict: 'older' }
  } catch (error) {
    await older.close()
    throw error
  }
}

/** Whether an error is one that only servers of the newest revision give. */
function isNewest(error: unknown): boolean {
  return error instanceof McpError && error.code >= -32022 && error.code <= -32020
}

async function agreeOn(line: Line, options: NegotiateOptions): Promise<Agreement> {
  const asked = options.revision ?? (SHAKEN.at(-1) as Revision)
  const { client, capabilities } = options.sender()
  const roots = capabilities['roots'] === undefined ? {} : { roots: { listChanged: true } }
  const params = { protocolVersion: asked, capabilities: { ...capabilities, ...roots }, clientInfo: client }
  const forms = await formsOf(asked)
  const result = await exchange(line, 'initialize', params, { revision: asked, forms }, options)
  const { protocolVersion: offered } = result
  if (
    !isRevision(offered) ||
    offered === LATEST ||
    (options.revision !== undefined && offered !== options.revision)
  ) {
    throw mcpError('no_revision', { offered: said(offered).slice(0, 64) })
  }
  line.agree(offered)
  const spoken = { revision: offered, forms: await formsOf(offered) }
  const initialized = 'notifications/initialized'
  const sent = line.send(sealNote(initialized, {}, spoken.forms))
  const stop = patience(initialized, options)
  await orAborted(sent, stop.signal).finally(() => stop.end())
  return agreed(spoken, result['serverInfo'] as JsonObject, result)
}
