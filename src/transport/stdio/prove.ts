import { badOption, checkOptions } from '../../base/options.ts'
import { McpError, mcpError } from '../../errors/error.ts'
import { KEYS_FAILED, KEYS_REJECTED } from '../../errors/keys.ts'
import {
  BEGIN,
  isChallenge,
  newChallenge,
  PROVE,
  readSignature,
  signatureText,
  statementOf,
  VERSION,
  type Facts,
} from '../../keys/exchange.ts'
import { CLIENT_KEYS_OPTIONS } from '../../keys/options.ts'
import { readPublicKey, toPublicKey } from '../../keys/public-key.ts'
import { JSONRPC, type JsonObject, type Message } from '../../protocol/jsonrpc.ts'
import type { ClientKeys } from '../../rpc/client-keys.ts'
import type { ClientTransport } from '../../rpc/client-transport.ts'
import { Deadline } from '../../rpc/deadline.ts'

export interface ProveOptions {
  readonly keys: ClientKeys
  /** The server, for messages. */
  readonly target: string
  /** How long the server may take to answer each message. */
  readonly timeoutMs: number
  /** How long to wait for a server that may not know the exchange. */
  readonly probeMs: number
  /** Aborts when the connection is no longer wanted. */
  readonly signal: AbortSignal | undefined
}

/** Ids that no other request of the connection has. */
const BEGIN_ID = -1
const PROVE_ID = -2
const REMEDY = 'give the server stdio: { keys: allowKeys(…) }, or set keys.optional to connect without keys'

/** Rejects keys that can never be used. */
export function checkKeys(keys: ClientKeys): void {
  const where = 'connect keys'
  checkOptions(where, keys, CLIENT_KEYS_OPTIONS)
  toPublicKey(`${where} own`, keys.own.publicKey)
  const servers = serversOf(keys)
  for (const text of servers ?? []) toPublicKey(`${where} server`, text)
  if (servers?.length === 0) throw badOption(`${where} server`, 'an empty list would reject every server')
  if (servers !== undefined && keys.optional === true)
    throw badOption(where, 'a server without keys cannot be the pinned one; remove optional, or server')
}

/** Proves our key to a server before anything else is sent, and checks that of the server. */
export async function prove(transport: ClientTransport, options: ProveOptions): Promise<void> {
  const { keys, target, timeoutMs } = options
  const { own, optional = false } = keys
  const clientChallenge = newChallenge()
  const params = { version: VERSION, challenge: clientChallenge, key: own.publicKey }
  const begun = await ask(BEGIN_ID, BEGIN, params, optional ? options.probeMs : timeoutMs).catch(
    (error: unknown) => {
      if (!(error instanceof McpError) || error.kind !== 'timeout') throw error
      return silent(error)
    },
  )
  if (begun === undefined) return
  if (begun.error !== undefined) {
    const { code, message } = begun.error
    if (code === KEYS_REJECTED.code) throw failed(message)
    if (optional) return
    throw failed(`it does not ask for keys (it says: ${message}); ${REMEDY}`)
  }
  const facts = checkServer(begun.result ?? {}, clientChallenge)
  const signature = signatureText(own.sign(statementOf('client', facts)))
  const proved = await ask(PROVE_ID, PROVE, { signature }, timeoutMs)
  if (proved.error !== undefined) throw failed(proved.error.message)

  /** Programs may ignore requests that they do not know. */
  function silent(error: McpError): undefined {
    if (optional && options.signal?.aborted !== true) return undefined
    throw failed(`it has not answered, so it may not ask for keys; ${REMEDY} (${error.message})`)
  }

  /** Reads the answer of a server, which must have the key that we expect. */
  function checkServer({ version, challenge, key, signature: given }: JsonObject, ours: string): Facts {
    if (version !== VERSION || !isChallenge(challenge))
      throw failed(`its answer to ${BEGIN} is not valid; update the server or the client`)
    const isUnproved = key === undefined
    const server = isUnproved ? undefined : readPublicKey(key)
    const checked: Facts = {
      clientChallenge: ours,
      serverChallenge: challenge,
      clientKey: own.publicKey,
      serverKey: server?.text,
    }
    const expected = serversOf(keys)
    if (isUnproved && expected === undefined) return checked
    if (isUnproved)
      throw failed('it has no key, but keys.server names one; give it one: allowKeys(clients, { own })')
    const proof = readSignature(given)
    if (
      server === undefined ||
      proof === undefined ||
      !server.verifies(statementOf('server', checked), proof)
    )
      throw failed('it did not prove its key')
    if (expected?.includes(server.text) === false)
      throw failed(`its key ${server.text} is not in keys.server; if it has a new key, pin that one`)
    return checked
  }

  async function ask(id: number, method: string, asked: JsonObject, idleMs: number): Promise<Message> {
    const cancel = new Deadline({ method, idleMs, totalMs: Infinity, signal: options.signal })
    try {
      const text = JSON.stringify({ jsonrpc: JSONRPC, id, method, params: asked })
      return await transport.request({
        id,
        method,
        text,
        headers: () => ({}),
        cancel,
        onMessage: () => undefined,
      })
    } finally {
      cancel.end()
    }
  }

  function failed(reason: string): McpError {
    return mcpError(KEYS_FAILED, { target: JSON.stringify(target), reason })
  }
}

function serversOf({ server }: ClientKeys): readonly string[] | undefined {
  return typeof server === 'string' ? [server] : server
}
