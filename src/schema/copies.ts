import { slotBytes } from '../base/weight.ts'

/** The most bytes that the lists of a copy may take: making them takes about a second. */
const MOST_BYTES = 67_108_864

/** Whether a copy of a value would be many times as large, because its objects have numbers as names: zod makes copies member by member. */
export function isCostlyCopy(value: unknown): boolean {
  let left = MOST_BYTES
  return exceeds(value)

  function exceeds(part: unknown): boolean {
    if (typeof part !== 'object' || part === null) return false
    if (Array.isArray(part)) return part.some(exceeds)
    const names = Object.keys(part)
    if (/^\d/.test(names[0] ?? '')) left -= slotBytes(names)
    return left < 0 || names.some((name) => exceeds((part as Readonly<Record<string, unknown>>)[name]))
  }
}
