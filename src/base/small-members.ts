import { weigh } from './weight.ts'

type Members = Readonly<Record<string, unknown>>

/** The memory that optional members of a peer may take where they are kept for long. */
const SMALL = 8192

/** No member takes less. */
const LEAST = weigh({ '': 0 })

/** The members of an object that take at most so many bytes together: some first, then the others in their order. Those without room are left out. */
export function smallMembers(object: Members, first: readonly string[] = [], most: number = SMALL): Members {
  if (weigh(object, most) < most) return object
  const kept: [string, unknown][] = []
  let left = most
  const add = (name: string): void => {
    const value = object[name]
    const bytes = weigh({ [name]: value }, left)
    if (bytes >= left) return
    left -= bytes
    kept.push([name, value])
  }
  for (const name of first) if (Object.hasOwn(object, name)) add(name)
  for (const name of Object.keys(object)) {
    if (left <= LEAST) break
    if (!first.includes(name)) add(name)
  }
  return Object.fromEntries(kept)
}
