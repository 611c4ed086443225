import { McpError, mcpError } from '../errors/error.ts'
import { NO_REVISION } from '../errors/client.ts'
import { UNKNOWN_METHOD } from '../errors/rpc.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { LATEST, REVISIONS, isRevision, type Revision } from '../protocol/revisions.ts'
import { untrustedText } from '../base/untrusted-text.ts'
import type { ClientTransport } from '../rpc/client-transport.ts'
import { orAborted } from '../base/backoff.ts'
import { agreed, exchange, patience } from './first-exchange.ts'
import type { Agreement, NegotiateOptions, Opened } from './negotiate.ts'
import { formsOf } from './older-forms.ts'
import { encodeNote } from './encode-call.ts'

const SHAKEN = REVISIONS.filter((revision) => revision !== LATEST)

/** Agrees on one of the revisions that begin with `initialize`, over an older transport where the server has no other. */
export async function shakeHands(transport: ClientTransport, options: NegotiateOptions): Promise<Opened> {
  const { remembered, signal, timeoutMs } = options
  const known = remembered === 'older'
  let refusal: Error = mcpError(UNKNOWN_METHOD, { method: 'initialize', revision: REVISIONS[0] })
  if (!known) {
    try {
      return { transport, agreement: await agreeOn(transport, options), mode: 'handshake' }
    } catch (error) {
      // What is known to speak this transport, or says so, has no need of an older one.
      if (remembered === 'handshake' || isNewest(error) || signal.aborted) throw error
      refusal = error as Error
    }
  }
  const older = await transport.older?.({ known, timeoutMs, signal })
  if (older === undefined) throw refusal
  await transport.close()
  try {
    return { transport: older, agreement: await agreeOn(older, options), mode: 'older' }
  } catch (error) {
    await older.close()
    throw error
  }
}

/** Whether an error is one that only servers of the newest revision give. */
function isNewest(error: unknown): boolean {
  return error instanceof McpError && error.code >= -32022 && error.code <= -32020
}

/** Capabilities as they are declared once and for all: roots may change, and extensions are experimental. */
function toOlder({ extensions, ...capabilities }: JsonObject): JsonObject {
  return {
    ...capabilities,
    ...(capabilities['roots'] === undefined ? {} : { roots: { listChanged: true } }),
    ...(extensions === undefined ? {} : { experimental: extensions }),
  }
}

/** Asks for the newest revision, and for an older one where a server refuses what it does not know but says what it does. */
async function agreeOn(transport: ClientTransport, options: NegotiateOptions): Promise<Agreement> {
  const { revision: wanted } = options
  if (wanted !== undefined) return agree(transport, wanted, options)
  try {
    return await agree(transport, SHAKEN.at(-1) as Revision, options)
  } catch (error) {
    const supported = error instanceof McpError ? error.data?.['supported'] : undefined
    const known = SHAKEN.slice(0, -1).findLast(
      (revision) => Array.isArray(supported) && supported.includes(revision),
    )
    if (known === undefined) throw error
    return agree(transport, known, options)
  }
}

async function agree(
  transport: ClientTransport,
  asked: Revision,
  options: NegotiateOptions,
): Promise<Agreement> {
  const { client, capabilities: offers } = options.sender()
  const params = { protocolVersion: asked, capabilities: toOlder(offers), clientInfo: client }
  const forms = formsOf(asked, options.dialects)
  const result = await exchange(transport, 'initialize', params, { revision: asked, forms }, options)
  const { protocolVersion: offered } = result
  if (
    !isRevision(offered) ||
    offered === LATEST ||
    (options.revision !== undefined && offered !== options.revision)
  ) {
    throw mcpError(NO_REVISION, { offered: untrustedText(offered).slice(0, 64) })
  }
  transport.agree(offered)
  const spoken = { revision: offered, forms: formsOf(offered, options.dialects) }
  const initialized = 'notifications/initialized'
  const sent = transport.send(encodeNote(initialized, {}, spoken.forms))
  const stop = patience(initialized, options)
  await orAborted(sent, stop.signal).finally(() => stop.end())
  return agreed(spoken, result['serverInfo'] as JsonObject, result)
}
