import { badOption, checkOptions } from '../base/options.ts'
import { PINNED_KEY_OPTIONS, type PinnedKey } from './options.ts'
import { toPublicKey, type PublicKey } from './public-key.ts'

/** A key that a server allows, and its owner. */
export interface Pinned {
  readonly key: PublicKey
  readonly sub: string
  readonly scopes: readonly string[]
}

/** Reads a list of keys; throws if one is not valid or occurs twice. */
export function readPinned(where: string, list: readonly PinnedKey[]): readonly Pinned[] {
  const pinned = list.map((given) => {
    checkOptions(where, given, PINNED_KEY_OPTIONS)
    const key = toPublicKey(where, given.key)
    return { key, sub: given.sub ?? key.fingerprint, scopes: given.scopes ?? [] }
  })
  const twice = pinned.find(({ key }, at) => pinned.findIndex((one) => one.key.text === key.text) !== at)
  if (twice !== undefined) throw badOption(where, `the key ${twice.key.text} occurs twice; remove one`)
  return pinned
}
