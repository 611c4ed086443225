import { isObject, member, type Message } from '../message.ts'

const SCALARS = new Set<unknown>(['string', 'number', 'integer', 'boolean'])
/** Names of what a person should not type into a form of a client. */
const SENSITIVE =
  /pass(?:word|wd|phrase|code)|secret(?!ar)|api.?key|(?:access|auth|refresh).?token|credit.?card|card.?number|\bcv[vc]\b|\bssn\b|social.?security|private.?key|(?:^|[^a-z])pin(?:$|[^a-z])/i

/** What is wrong with the schema of a form. Lists of choices came with 2025-11-25. */
export function formProblem(schema: unknown, hasLists: boolean): string | undefined {
  const properties = member(schema, 'properties')
  if (member(schema, 'type') !== 'object' || !isObject(properties))
    return 'the schema of a form is not an object with properties'
  for (const [name, field] of Object.entries(properties)) {
    if (isObject(field) && isFlat(field, hasLists)) continue
    return `the field ${JSON.stringify(name)} of a form is ${JSON.stringify(field)?.slice(0, 150)}`
  }
  return undefined
}

function isFlat(field: Message, hasLists: boolean): boolean {
  const { type } = field
  if (SCALARS.has(type)) return true
  if (type === 'array') return hasLists && isChoice(field['items'])
  return type === undefined && isChoice(field)
}

/** Whether a schema lists its values. */
function isChoice(schema: unknown): boolean {
  if (Array.isArray(member(schema, 'enum'))) return true
  const options = member(schema, 'oneOf') ?? member(schema, 'anyOf')
  return Array.isArray(options) && options.every((one) => isObject(one) && Object.hasOwn(one, 'const'))
}

/** The first field whose name says that it is a secret. */
export function sensitiveField(schema: unknown): string | undefined {
  const properties = member(schema, 'properties')
  return Object.entries(isObject(properties) ? properties : {})
    .flatMap(([name, field]) => [name, member(field, 'title')])
    .find((name): name is string => typeof name === 'string' && SENSITIVE.test(name))
}
