type Schema = Readonly<Record<string, unknown>>

/** A case that was made from the schema of a tool. */
export interface GeneratedCase {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  /** Whether the tool must reject it. Others must be answered, well or with an error of the tool itself. */
  readonly isWrong: boolean
}

/** The most cases for one tool. */
const MOST = 100

/**
 * Cases for a tool from the schema of its input: a smallest and a full input that fit, each required member left out, each member with
 * a wrong type, beyond each bound, and a member too many.
 */
export function generatedCases(schema: Schema): readonly GeneratedCase[] {
  const properties = objectOf(schema['properties'])
  const required = listOf(schema['required'])
  const full = Object.fromEntries(
    Object.entries(properties).map(([name, one]) => [name, valueOf(objectOf(one))]),
  )
  const least = Object.fromEntries(required.filter((name) => name in full).map((name) => [name, full[name]]))
  const cases: GeneratedCase[] = [
    { name: 'the least that it needs', input: least, isWrong: false },
    { name: 'everything that it takes', input: full, isWrong: false },
  ]
  for (const name of required) {
    const { [name]: _, ...without } = full
    cases.push({ name: `without ${name}`, input: without, isWrong: true })
  }
  for (const [name, one] of Object.entries(properties)) {
    for (const [about, value] of wrongValues(objectOf(one)))
      cases.push({ name: `${name} ${about}`, input: { ...full, [name]: value }, isWrong: true })
  }
  if (schema['additionalProperties'] === false)
    cases.push({ name: 'a member too many', input: { ...full, 'pierhead-unknown': 1 }, isWrong: true })
  return cases.slice(0, MOST)
}

/** A value that fits a schema, as far as its common keywords say. */
export function valueOf(schema: Schema, depth: number = 0): unknown {
  if ('const' in schema) return schema['const']
  if ('default' in schema) return schema['default']
  const examples = schema['examples']
  if (Array.isArray(examples) && examples.length > 0) return examples[0] as unknown
  const choices = schema['enum']
  if (Array.isArray(choices) && choices.length > 0) return choices[0] as unknown
  const branches = [schema['anyOf'], schema['oneOf']].find((list) => Array.isArray(list)) as
    | readonly unknown[]
    | undefined
  if (branches !== undefined && branches.length > 0) return valueOf(objectOf(branches[0]), depth + 1)
  switch (typeOf(schema)) {
    case 'string':
      return textOf(schema)
    case 'integer':
    case 'number':
      return numberOf(schema)
    case 'boolean':
      return true
    case 'array': {
      const count = depth > 5 ? 0 : Number(schema['minItems'] ?? 1)
      return Array.from({ length: Math.min(count, 20) }, () => valueOf(objectOf(schema['items']), depth + 1))
    }
    case 'object': {
      const members = Object.entries(objectOf(schema['properties']))
      return depth > 5
        ? {}
        : Object.fromEntries(members.map(([name, one]) => [name, valueOf(objectOf(one), depth + 1)]))
    }
    case 'null':
      return null
    default:
      return 'text'
  }
}

/** Texts of the formats that schemas often name. */
const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-07-28',
  'date-time': '2026-07-28T12:00:00Z',
  time: '12:00:00Z',
  email: 'ada@example.com',
  uri: 'https://example.com/',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
  ipv4: '192.0.2.1',
}

function textOf(schema: Schema): string {
  const format = schema['format']
  const text = typeof format === 'string' && Object.hasOwn(FORMATS, format) ? (FORMATS[format] ?? '') : 'text'
  const least = Math.min(Number(schema['minLength'] ?? 0), 10_000)
  const most = Number(schema['maxLength'] ?? Number.POSITIVE_INFINITY)
  return text.padEnd(least, 'x').slice(0, most)
}

function numberOf(schema: Schema): number {
  const step = Number(schema['multipleOf'] ?? 1)
  const least = Number(schema['minimum'] ?? Number(schema['exclusiveMinimum'] ?? Number.NaN) + step)
  const most = Number(schema['maximum'] ?? Number(schema['exclusiveMaximum'] ?? Number.NaN) - step)
  if (Number.isFinite(least)) return Math.ceil(least / step) * step
  return Number.isFinite(most) && most < step ? Math.floor(most / step) * step : step
}

/** Values that do not fit a schema, and what is wrong with each. */
function* wrongValues(schema: Schema): Generator<readonly [about: string, value: unknown]> {
  const type = typeOf(schema)
  // A member with alternatives may accept anything, so nothing is surely wrong.
  if (type === undefined || 'anyOf' in schema || 'oneOf' in schema) return
  yield [
    'of another type',
    type === 'string' ? 7 : type === 'array' ? 'text' : type === 'boolean' ? 'perhaps' : 'text',
  ]
  if (type === 'integer') yield ['with a fraction', 1.5]
  const bounds = [
    ['minimum', -1, 'below its minimum'],
    ['maximum', 1, 'above its maximum'],
  ] as const
  for (const [keyword, step, about] of bounds)
    if (typeof schema[keyword] === 'number' && (type === 'number' || type === 'integer'))
      yield [about, (schema[keyword] as number) + step]
  if (type === 'string' && typeof schema['minLength'] === 'number' && schema['minLength'] > 0)
    yield ['too short', '']
  if (type === 'string' && typeof schema['maxLength'] === 'number' && schema['maxLength'] < 100_000)
    yield ['too long', 'x'.repeat(schema['maxLength'] + 1)]
  if (Array.isArray(schema['enum']))
    yield ['outside its choices', type === 'string' ? 'pierhead-unknown' : -987_654_321]
}

function typeOf(schema: Schema): string | undefined {
  const { type } = schema as { readonly type?: unknown }
  return typeof type === 'string' ? type : undefined
}

function objectOf(value: unknown): Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {}
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
}
