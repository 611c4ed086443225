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

/** The bytes of a list or object, of a place in a list, and of a member. */
const CONTAINER = 64
const SLOT = 8
const MEMBER = 32
/** More bytes are not counted. */
const MOST_COUNTED = 2 ** 30

/** The bytes that the lists and objects of a value take that a library has made, without their texts, which are shared. */
export function copyBytes(value: unknown): number {
  let sum = 0
  const open: object[] = []
  const add = (part: unknown): void => {
    if (typeof part === 'object' && part !== null) open.push(part)
  }
  add(value)
  for (let part = open.pop(); part !== undefined && sum < MOST_COUNTED; part = open.pop()) {
    sum += CONTAINER
    if (Array.isArray(part)) {
      sum += part.length * SLOT
      part.forEach(add)
      continue
    }
    const names = Object.keys(part)
    sum += names.length * MEMBER + (/^\d/.test(names[0] ?? '') ? slotBytes(names) : 0)
    for (const name of names) add((part as Readonly<Record<string, unknown>>)[name])
  }
  return Math.min(sum, MOST_COUNTED)
}
