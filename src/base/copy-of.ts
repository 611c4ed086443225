type Members = Readonly<Record<string, unknown>>

/**
 * A copy of an object of a peer, perhaps without some members. Where objects have hundreds of members of changing types, `{ ...object }`
 * takes engines ten times as long as parsing them. Members that are set one after another are kept in a table.
 */
export function copyOf(object: Members, ...without: readonly string[]): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(object)) if (!without.includes(name)) put(copy, name, object[name])
  return copy
}

/** Sets a member whose name a peer chose. */
export function put(copy: object, name: PropertyKey, value: unknown): void {
  if (name !== '__proto__') (copy as Record<PropertyKey, unknown>)[name] = value
  else Object.defineProperty(copy, name, { value, enumerable: true, configurable: true, writable: true })
}
