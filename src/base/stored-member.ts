type Values = Readonly<Record<string, unknown>>

/** A member of an object whose text is known. */
export interface StoredMember {
  readonly name: string
  readonly text: string
  /** Its value, if there is a better way to it than to parse the text. */
  readonly value?: () => unknown
}

/** The texts of such members, by name. */
export type StoredTexts = ReadonlyMap<string, string>

const stored = new WeakMap<object, Map<string, string>>()

/** An object with further members whose texts are known: each is parsed only if somebody reads it. */
export function withStored<Object extends Values>(
  object: Object,
  ...members: readonly StoredMember[]
): Object {
  const own = { ...object }
  const texts = new Map<string, string>()
  for (const { name, text, value: read = () => JSON.parse(text) as unknown } of members) {
    texts.set(name, text)
    const become = (value: unknown): unknown => {
      // Whoever has the value may change it.
      texts.delete(name)
      Object.defineProperty(own, name, { value, enumerable: true, configurable: true, writable: true })
      return value
    }
    const get = (): unknown => become(read())
    Object.defineProperty(own, name, { get, set: become, enumerable: true, configurable: true })
  }
  stored.set(own, texts)
  return own
}

/** The texts of the members of an object that are known, and that nobody has read; undefined if there are none. */
export function storedIn(object: object): StoredTexts | undefined {
  const texts = stored.get(object)
  return texts === undefined || texts.size === 0 ? undefined : texts
}

/** The text of an object with such members. */
export function textWith(object: Values, texts: StoredTexts): string {
  const others = Object.keys(object).filter((other) => !texts.has(other))
  let text = JSON.stringify(Object.fromEntries(others.map((other) => [other, object[other]]))).slice(0, -1)
  for (const [name, own] of texts) text += `${text === '{' ? '' : ','}${JSON.stringify(name)}:${own}`
  return `${text}}`
}

/** A copy of an object with other members instead of its own, or besides. Texts that are known stay so. */
export function copyWith(object: Values, others: Values): Values {
  return copyOf(object, (name) => !Object.hasOwn(others, name), others)
}

/** A copy of an object without a member. Texts that are known stay so. */
export function copyWithout(object: Values, name: string): Values {
  return copyOf(object, (other) => other !== name, {})
}

/** A copy of some members of an object, and others. */
function copyOf(object: Values, isKept: (name: string) => boolean, others: Values): Values {
  const texts = storedIn(object)
  const known = [...(texts ?? [])].filter(([name]) => isKept(name))
  const names = Object.keys(object).filter((name) => isKept(name) && texts?.has(name) !== true)
  return withStored(
    { ...Object.fromEntries(names.map((name) => [name, object[name]])), ...others },
    ...known.map(([name, text]) => ({ name, text })),
  )
}
