import { mcpError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { LATEST, REVISIONS, isRevision, type Revision } from '../protocol/revisions.ts'
import { said } from '../protocol/said.ts'
import type { Line } from '../rpc/line.ts'
import { orAborted } from './backoff.ts'
import { agreed, exchange, patience } from './first-exchange.ts'
import { formsOf } from './forms.ts'
import type { Agreement, NegotiateOptions } from './negotiate.ts'
import { sealNote } from './seal-call.ts'

const SHAKEN = REVISIONS.filter((revision) => revision !== LATEST)

/** Agrees on one of the revisions that begin with `initialize`. */
export async function shakeHands(line: Line, options: NegotiateOptions): Promise<Agreement> {
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
