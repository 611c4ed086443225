/** The approximate size of a JSON value in memory, in bytes. */
export function weigh(value: unknown): number {
  if (typeof value === 'string') return NODE + value.length
  if (typeof value !== 'object' || value === null) return NODE
  let sum = NODE
  if (Array.isArray(value)) for (const item of value) sum += weigh(item)
  else for (const [name, item] of Object.entries(value)) sum += name.length + weigh(item)
  return sum
}

const NODE = 16
