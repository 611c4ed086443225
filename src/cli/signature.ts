/** A tool or prompt as a person would write its call: `add(a: number, b?: number)`. */
export function signatureOf(item: {
  readonly name: string
  readonly inputSchema?: Readonly<Record<string, unknown>>
  readonly arguments?: readonly { readonly name: string; readonly required?: boolean }[]
}): string {
  if (item.inputSchema === undefined) {
    const words = (item.arguments ?? []).map(({ name, required }) => `${name}${required === true ? '' : '?'}`)
    return `${item.name}(${words.join(', ')})`
  }
  const { properties = {}, required = [] } = item.inputSchema as {
    readonly properties?: Readonly<Record<string, unknown>>
    readonly required?: readonly string[]
  }
  const shown = Object.entries(properties).map(([name, schema]) => {
    const mark = Array.isArray(required) && required.includes(name) ? '' : '?'
    return `${name}${mark}: ${typeOf(schema)}`
  })
  return `${item.name}(${shown.join(', ')})`
}

/** The type of a value in a few characters. */
function typeOf(schema: unknown): string {
  if (typeof schema !== 'object' || schema === null) return 'any'
  const { type, enum: values } = schema as { readonly type?: unknown; readonly enum?: unknown }
  if (Array.isArray(values))
    return values
      .slice(0, 6)
      .map((value) => JSON.stringify(value) ?? '?')
      .join('|')
  if (Array.isArray(type)) return type.map(String).join('|')
  return typeof type === 'string' ? type : 'any'
}
