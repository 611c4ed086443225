import { isMembers } from './config-entry.ts'

/** A tool or prompt as a person would write its call: `add(a: number, b?: number)`. A server may have sent anything. */
export function signatureOf(item: {
  readonly name: string
  readonly inputSchema?: unknown
  readonly arguments?: unknown
}): string {
  if (item.inputSchema === undefined) {
    const words = listOf(item.arguments)
      .filter(isMembers)
      .map(
        ({ name, required }) =>
          `${typeof name === 'string' ? name : '(no name)'}${required === true ? '' : '?'}`,
      )
    return `${item.name}(${words.join(', ')})`
  }
  const { properties, required } = isMembers(item.inputSchema) ? item.inputSchema : {}
  const shown = Object.entries(isMembers(properties) ? properties : {}).map(([name, schema]) => {
    const mark = listOf(required).includes(name) ? '' : '?'
    return `${name}${mark}: ${typeOf(schema)}`
  })
  return `${item.name}(${shown.join(', ')})`
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The type of a value in a few characters. */
function typeOf(schema: unknown): string {
  if (!isMembers(schema)) return 'any'
  const { type, enum: values } = schema
  if (Array.isArray(values))
    return values
      .slice(0, 6)
      .map((value) => JSON.stringify(value) ?? '?')
      .join('|')
  if (type === undefined) return 'any'
  const types: readonly unknown[] = Array.isArray(type) ? type : [type]
  return types.map((one) => (typeof one === 'string' ? one : '(not a type)')).join('|')
}
