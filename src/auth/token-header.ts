import { decodeProtectedHeader, type ProtectedHeaderParameters } from 'jose'

/** How many values a header may contain, with those inside others: each takes many times as much memory as text. */
const MAX_VALUES = 100

/**
 * Reads the protected header of a token or a proof, which nothing proves yet; undefined if it is malformed, or has more values than
 * any issuer or client writes. Texts may be long: chains of certificates (`x5c`) take several kilobytes.
 */
export function readHeader(token: string): ProtectedHeaderParameters | undefined {
  try {
    const header = decodeProtectedHeader(token)
    return roomAfter(header, MAX_VALUES) < 0 ? undefined : header
  } catch {
    return undefined
  }
}

/** How many values there is room for after this one and those inside it; negative if there is too little. */
function roomAfter(value: unknown, room: number): number {
  let left = room - 1
  if (typeof value !== 'object' || value === null) return left
  for (const one of Object.values(value)) {
    if (left < 0) break
    left = roomAfter(one, left)
  }
  return left
}
