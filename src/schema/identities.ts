import { PRICE, spend } from './work.ts'

/** Tells which lists and objects of one value are the same JSON. */
export interface Identities {
  /** A number that only lists and objects with the same content share. */
  of(value: object): number
  /** Forgets all numbers, at the end of a check. */
  clear(): void
}

/** The longest text that engines hash as a whole. Longer ones of the same length have the same hash, so a set would compare each with all. */
export const LONGEST_HASHED = 16_383

/**
 * Reads each list and object once, however many levels are compared: its text has the numbers of those inside it, not
 * their texts, so the work does not grow with the depth.
 */
export function createIdentities(): Identities {
  const known = new Map<object, number>()
  const numbers = new Map<string, number>()
  return { of, clear }

  function of(value: object): number {
    spend(PRICE.mark)
    let number = known.get(value)
    if (number === undefined) known.set(value, (number = numberOf(textOf(value))))
    return number
  }

  function clear(): void {
    if (known.size === 0) return
    known.clear()
    numbers.clear()
  }

  function textOf(value: object): string {
    if (Array.isArray(value)) return `[${value.map(partOf).join()}]`
    const names = Object.keys(value)
    const chars = names.reduce((sum, name) => sum + name.length, 0)
    // They are sorted, which compares characters.
    spend(PRICE.mark * names.length + 2 * chars + (chars / 8) * Math.log2(names.length + 1))
    const members = value as Readonly<Record<string, unknown>>
    return `{${names
      .sort()
      .map((name) => `${JSON.stringify(name)}:${partOf(members[name])}`)
      .join()}}`
  }

  function partOf(value: unknown): string {
    if (typeof value === 'object' && value !== null) return `#${of(value)}`
    spend(PRICE.mark + (typeof value === 'string' ? 2 * value.length : 0))
    // A number may be infinite, which JSON has no text for.
    if (typeof value !== 'string') return String(value)
    return value.length > LONGEST_HASHED ? `~${numberOf(value)}` : JSON.stringify(value)
  }

  /** The number of a text; that of a long one is the number of those of its pieces. */
  function numberOf(text: string): number {
    if (text.length > LONGEST_HASHED) {
      const pieces: number[] = []
      for (let at = 0; at < text.length; at += LONGEST_HASHED)
        pieces.push(numberOf(text.slice(at, at + LONGEST_HASHED)))
      return numberOf(`+${pieces.join()}`)
    }
    let number = numbers.get(text)
    if (number === undefined) numbers.set(text, (number = numbers.size))
    return number
  }
}
