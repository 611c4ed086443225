import { isObject, member, type Message } from '../message.ts'

/** The members of capabilities that have a type, by the capability. */
const TYPES: Readonly<Record<string, Readonly<Record<string, 'boolean' | 'object'>>>> = {
  tools: { listChanged: 'boolean' },
  prompts: { listChanged: 'boolean' },
  resources: { listChanged: 'boolean', subscribe: 'boolean' },
  logging: {},
  completions: {},
  experimental: {},
  extensions: {},
  tasks: { list: 'object', cancel: 'object', requests: 'object' },
}
/** Capabilities whose members are all objects. */
const MAPS: ReadonlySet<string> = new Set(['experimental', 'extensions'])

/** The members of the result of a greeting that are not what they should be: the capabilities, and in `initialize` what else must be there. */
export function wrongInGreeting(result: Message): readonly string[] {
  const { capabilities } = result
  if (!isObject(capabilities)) return ['capabilities']
  return Object.entries(TYPES).flatMap(([name, types]) => {
    const path = `capabilities.${name}`
    if (!Object.hasOwn(capabilities, name)) return []
    const declared = capabilities[name]
    if (!isObject(declared)) return [path]
    if (MAPS.has(name))
      return Object.entries(declared)
        .filter(([, value]) => !isObject(value))
        .map(([key]) => `${path}[${JSON.stringify(key).slice(0, 60)}]`)
    return Object.entries(types)
      .filter(([key, type]) => !isOfType(member(declared, key), type))
      .map(([key]) => `${path}.${key}`)
  })
}

function isOfType(value: unknown, type: 'boolean' | 'object'): boolean {
  return value === undefined || (type === 'object' ? isObject(value) : typeof value === type)
}
