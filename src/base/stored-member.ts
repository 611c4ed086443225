type Values = Readonly<Record<string, unknown>>

/** A member of an object whose text is known. */
export interface StoredMember {
  readonly name: string
  readonly text: string
}

const stored = new WeakMap<object, StoredMember>()

/** An object with one more member, whose text is known: it is parsed only if somebody reads it. */
export function withStored<Object extends Values>(object: Object, member: StoredMember): Object {
  const { name, text } = member
  const own = { ...object }
  const become = (value: unknown): unknown => {
    // Whoever has the value may change it.
    stored.delete(own)
    Object.defineProperty(own, name, { value, enumerable: true, configurable: true, writable: true })
    return value
  }
  const get = (): unknown => become(JSON.parse(text))
  Object.defineProperty(own, name, { get, set: become, enumerable: true, configurable: true })
  stored.set(own, member)
  return own
}

/** The member of an object whose text is known, if nobody has read it; undefined if there is none. */
export function storedIn(object: object): StoredMember | undefined {
  return stored.get(object)
}

/** The text of an object with such a member. */
export function textWith(object: Values, { name, text }: StoredMember): string {
  const others = Object.keys(object).filter((other) => other !== name)
  const rest = JSON.stringify(Object.fromEntries(others.map((other) => [other, object[other]])))
  return `${rest.slice(0, -1)}${rest === '{}' ? '' : ','}${JSON.stringify(name)}:${text}}`
}
