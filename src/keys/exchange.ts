import { randomBytes } from 'node:crypto'
import { readBytes } from './public-key.ts'

/*
 * The exchange, before any other message:
 *
 * client → server  begin { version, challenge, key }
 * server → client  { version, challenge }, or with the server's own pair { version, challenge, key, signature }
 * client → server  prove { signature }
 * server → client  {}
 *
 * Both sign the same facts: the protocol, their role, both challenges and both keys. A signature is therefore worth nothing
 * in another exchange, for another server, or as that of the other side.
 */

/** The name of the extension. */
const EXTENSION = 'dev.pierhead/keys'
export const BEGIN: string = `${EXTENSION}/begin`
export const PROVE: string = `${EXTENSION}/prove`
export const VERSION = 1

const CHALLENGE_BYTES = 32
const SIGNATURE_BYTES = 64

/** The facts of one exchange; both sides know them all before they sign. */
export interface Facts {
  readonly clientChallenge: string
  readonly serverChallenge: string
  readonly clientKey: string
  /** Undefined if the server has no pair. */
  readonly serverKey: string | undefined
}

export function newChallenge(): string {
  return randomBytes(CHALLENGE_BYTES).toString('base64url')
}

export function isChallenge(value: unknown): value is string {
  return readBytes(value, CHALLENGE_BYTES) !== undefined
}

/** The bytes that a side signs. No fact contains a line break, so each text has one meaning. */
export function statementOf(role: 'client' | 'server', facts: Facts): Uint8Array {
  const { clientChallenge, serverChallenge, clientKey, serverKey = 'none' } = facts
  const lines = [EXTENSION, VERSION, role, clientChallenge, serverChallenge, clientKey, serverKey]
  return new TextEncoder().encode(lines.join('\n'))
}

/** Decodes a signature; undefined if it is not one. */
export function readSignature(value: unknown): Uint8Array | undefined {
  return readBytes(value, SIGNATURE_BYTES)
}

export function signatureText(signature: Uint8Array): string {
  return Buffer.from(signature).toString('base64url')
}
