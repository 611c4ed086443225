import { resolve } from 'node:path'
import { badOption, checkOptions } from '../base/options.ts'
import { KEYS_REJECTED, KEYS_REQUIRED } from '../errors/keys.ts'
import { mcpError, type McpError } from '../errors/error.ts'
import type { JsonObject, RequestId } from '../protocol/jsonrpc.ts'
import type { KeyPair } from '../rpc/client-keys.ts'
import { askedId } from '../transport/io/asked-id.ts'
import { readBounded } from '../wire/bounds.ts'
import { encodeReply, replyText } from '../wire/reply.ts'
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
} from './exchange.ts'
import { readPinFile } from './files.ts'
import type { Gate, GateHost } from './gate.ts'
import { ALLOW_KEYS_OPTIONS, type AllowedKeys, type AllowKeysOptions, type PinnedKey } from './options.ts'
import { readPinned, type Pinned } from './pinned.ts'
import { readPublicKey, toPublicKey } from './public-key.ts'

/** Messages of the exchange are shorter, so longer ones are not worth reading. */
const LONGEST = 4096
const START = 512

/** Reads the keys that a server allows, from a list or a file. */
export function allowKeys(
  clients: string | readonly PinnedKey[],
  options: AllowKeysOptions = {},
): AllowedKeys {
  const where = 'allowKeys'
  checkOptions(where, options, ALLOW_KEYS_OPTIONS)
  const { own } = options
  const list = typeof clients === 'string' ? readPinFile(where, resolve(clients)) : clients
  if (!Array.isArray(list)) throw badOption(where, 'give a list of keys, or the path of a file with them')
  const pinned = new Map(readPinned(where, list).map((one) => [one.key.text, one]))
  if (own !== undefined) toPublicKey(`${where} own`, own.publicKey)
  return { open: (host) => new KeyGate(pinned, own, host) }
}

/** An exchange that has begun. */
interface Begun {
  readonly client: Pinned
  readonly facts: Facts
}

class KeyGate implements Gate {
  isOpen = false
  readonly #pinned: ReadonlyMap<string, Pinned>
  readonly #own: KeyPair | undefined
  readonly #host: GateHost
  #begun: Begun | undefined

  constructor(pinned: ReadonlyMap<string, Pinned>, own: KeyPair | undefined, host: GateHost) {
    this.#pinned = pinned
    this.#own = own
    this.#host = host
  }

  take(line: string): void {
    if (line.length > LONGEST)
      return this.#host.reject(mcpError(KEYS_REQUIRED, {}), askedId(line.slice(0, START)))
    let id: RequestId | undefined
    try {
      const message = readBounded(line, this.#host.limits)
      if (!('method' in message)) {
        if (Array.isArray(message)) throw mcpError(KEYS_REQUIRED, {})
        return
      }
      id = message.id
      if (id === undefined) return
      const result = this.#answer(message.method as string, message.params ?? {})
      this.#host.send(replyText(encodeReply(id, JSON.stringify(result))))
    } catch (thrown) {
      this.#host.reject(thrown, id)
    }
  }

  #answer(method: string, params: JsonObject): JsonObject {
    if (method === BEGIN) return this.#begin(params)
    if (method === PROVE) return this.#prove(params)
    throw mcpError(KEYS_REQUIRED, {})
  }

  #begin({ version, challenge, key }: JsonObject): JsonObject {
    this.#begun = undefined
    if (version !== VERSION)
      throw rejected(`it uses another version of the exchange; this server has ${VERSION}`)
    if (!isChallenge(challenge)) throw rejected('the challenge is not 32 bytes in base64url')
    const read = readPublicKey(key)
    if (read === undefined) throw rejected('it is not an Ed25519 public key, such as ed25519:…')
    const client = this.#pinned.get(read.text)
    if (client === undefined) {
      const remedy = `pin it on the server: pinKey(file, { key: '${read.text}' })`
      throw rejected(`${read.fingerprint} is not among the keys that the server allows; ${remedy}`)
    }
    const own = this.#own
    const facts: Facts = {
      clientChallenge: challenge,
      serverChallenge: newChallenge(),
      clientKey: read.text,
      serverKey: own?.publicKey,
    }
    this.#begun = { client, facts }
    const result = { version: VERSION, challenge: facts.serverChallenge }
    if (own === undefined) return result
    const signature = signatureText(own.sign(statementOf('server', facts)))
    return { ...result, key: own.publicKey, signature }
  }

  /** Each challenge is good for one attempt. */
  #prove({ signature: given }: JsonObject): JsonObject {
    const begun = this.#begun
    this.#begun = undefined
    if (begun === undefined) throw rejected(`the exchange has not begun; send ${BEGIN} first`)
    const { client, facts } = begun
    const signature = readSignature(given)
    if (signature === undefined || !client.key.verifies(statementOf('client', facts), signature))
      throw rejected('the signature is wrong')
    const { key, sub, scopes } = client
    const auth = { sub, scopes, fingerprint: key.fingerprint }
    if (this.#host.isRevoked(auth)) throw rejected('its owner was revoked')
    this.isOpen = true
    this.#host.admit(auth)
    return {}
  }
}

function rejected(reason: string): McpError {
  return mcpError(KEYS_REJECTED, { reason })
}
