import type { Finding } from './finding.ts'

/** A tool as a server lists it; nothing of it is certain. */
export interface ListedTool {
  readonly name?: unknown
  readonly title?: unknown
  readonly description?: unknown
  readonly inputSchema?: unknown
}

interface Schema {
  readonly type?: unknown
  readonly description?: unknown
  readonly enum?: unknown
  readonly properties?: unknown
}

/** Names that all model vendors accept, and those that only some do. */
const NAME = /^[a-zA-Z0-9_-]{1,128}$/
const SHORT_NAME = 64

/** Some models take no more tools, and all choose worse among many. */
const MANY_TOOLS = 128
const MANY_ARGUMENTS = 20
/** From so many actions on, one tool is several. */
const MANY_ACTIONS = 8
/** From so many tools on that differ in a word only, one tool with an argument is better. */
const MANY_ALIKE = 6
const LONGEST_DESCRIPTION = 1024
/** The most tools that are looked at one by one, and the longest part of a name that counts. */
const MOST_LINTED = 1000
const LONGEST_NAME = 200
const FEWEST_WORDS = 3

/** Takes a name of a server, and returns it without secrets: a part of one must not stay when the name is cut. */
type Redact = (name: string) => string

/** What model vendors reject in tools, and what makes it hard for models to choose and to call them. */
export function lintTools(tools: readonly ListedTool[], redact: Redact = (name) => name): readonly Finding[] {
  return [
    ...tools.slice(0, MOST_LINTED).flatMap((tool) => lintTool(tool, redact)),
    ...lintWhole(tools, redact),
  ]
}

function lintTool(tool: ListedTool, redact: Redact): readonly Finding[] {
  const { name } = tool
  if (typeof name !== 'string' || name === '')
    return [{ level: 'problem', text: 'a tool has no name', fix: 'Give every tool a name.' }]
  const open = redact(name)
  const shown = open.length > 80 ? `${open.slice(0, 79)}…` : open
  return [...lintName(name, shown), ...lintDescription(tool, shown), ...lintSchema(tool, shown, redact)]
}

function lintName(name: string, shown: string): readonly Finding[] {
  if (!NAME.test(name))
    return [
      {
        level: 'problem',
        text: `tool "${shown}": model vendors reject the name`,
        fix: 'Use 1 to 128 of the characters a-z, A-Z, 0-9, _ and -.',
      },
    ]
  if (name.length <= SHORT_NAME) return []
  return [
    {
      level: 'advice',
      text: `tool "${shown}": the name has ${name.length} characters, and some model vendors accept ${SHORT_NAME}`,
      fix: 'Shorten it; clients may also put the name of the server before it.',
    },
  ]
}

function lintDescription({ name, title, description }: ListedTool, shown: string): readonly Finding[] {
  const advice = (text: string, fix: string): readonly Finding[] => [
    { level: 'advice', text: `tool "${shown}": ${text}`, fix },
  ]
  const fix = 'Say what it does, when to use it, and what it returns, in one to three sentences.'
  if (typeof description !== 'string' || description.trim() === '')
    return advice('there is no description, so a model has to guess what it does', fix)
  const words = description.trim().split(/\s+/)
  const plain = (text: unknown): string | undefined =>
    typeof text === 'string' ? text.toLowerCase().replaceAll(/[^a-z0-9]/g, '') : undefined
  if (
    words.length < FEWEST_WORDS ||
    plain(description) === plain(name) ||
    plain(description) === plain(title)
  )
    return advice('the description says no more than the name', fix)
  if (/\b(?:TODO|TBD|FIXME|lorem ipsum)\b/.test(description))
    return advice('the description is not finished', fix)
  if (description.length > LONGEST_DESCRIPTION)
    return advice(
      `the description has ${description.length} characters, which every request pays for`,
      `Keep it below ${LONGEST_DESCRIPTION}; details belong in the arguments or a resource.`,
    )
  return []
}

function lintSchema({ inputSchema }: ListedTool, shown: string, redact: Redact): readonly Finding[] {
  const schema = schemaOf(inputSchema)
  if (schema?.type !== 'object')
    return [
      {
        level: 'problem',
        text: `tool "${shown}": the input schema is not an object at the top level`,
        fix: 'Write { "type": "object", "properties": { … } }; unions belong in a property.',
      },
    ]
  const found: Finding[] = []
  const combined = ['oneOf', 'anyOf', 'allOf'].filter((key) => Object.hasOwn(schema, key))
  if (combined.length > 0)
    found.push({
      level: 'problem',
      text: `tool "${shown}": the input schema has ${combined.join(' and ')} at the top level, which model vendors reject`,
      fix: 'Move it into a property, or make several tools.',
    })
  const properties = Object.entries((schemaOf(schema.properties) ?? {}) as Readonly<Record<string, unknown>>)
  const silent = properties.filter(([, one]) => typeof schemaOf(one)?.description !== 'string')
  if (silent.length > 0)
    found.push({
      level: 'advice',
      text: `tool "${shown}": no description for ${silent
        .slice(0, 5)
        .map(([key]) => redact(key).slice(0, 40))
        .join(', ')}${silent.length > 5 ? ` and ${silent.length - 5} more` : ''}`,
      fix: 'Describe each argument: its meaning, unit and format.',
    })
  return [...found, ...lintCoarse(shown, properties)]
}

/** A tool that does too much. */
function lintCoarse(shown: string, properties: readonly (readonly [string, unknown])[]): readonly Finding[] {
  if (properties.length > MANY_ARGUMENTS)
    return [
      {
        level: 'advice',
        text: `tool "${shown}": it has ${properties.length} arguments, so it probably does too much`,
        fix: 'Make several tools with few arguments each.',
      },
    ]
  const action = properties.find(([key, one]) => {
    const values = schemaOf(one)?.enum
    return (
      /^(?:action|operation|command|method|op|mode|verb)$/i.test(key) &&
      Array.isArray(values) &&
      values.length >= MANY_ACTIONS
    )
  })
  if (action === undefined) return []
  return [
    {
      level: 'advice',
      text: `tool "${shown}": its argument ${action[0]} chooses among many actions, so it is several tools in one`,
      fix: 'Make a tool for each action, or for each group of actions with the same arguments.',
    },
  ]
}

/** What is wrong with all tools together. */
function lintWhole(tools: readonly ListedTool[], redact: Redact): readonly Finding[] {
  const names = tools.flatMap(({ name }) => (typeof name === 'string' ? [name] : []))
  const found: Finding[] = []
  if (names.length > MANY_TOOLS)
    found.push({
      level: 'advice',
      text: `there are ${names.length} tools, and some models take no more than ${MANY_TOOLS}${
        names.length > MOST_LINTED ? `; only the first ${MOST_LINTED} were looked at one by one` : ''
      }`,
      fix: 'Split the server, or offer fewer tools that do more.',
    })
  const twice = repeated(names)
  if (twice !== undefined)
    found.push({
      level: 'problem',
      text: `two tools are called "${redact(twice).slice(0, 80)}"`,
      fix: 'Give each tool a name of its own.',
    })
  for (const [stem, { count, first }] of alikeTools(names.slice(0, MOST_LINTED).map(redact)))
    if (count >= MANY_ALIKE)
      found.push({
        level: 'advice',
        text: `${count} tools begin with ${stem.slice(0, 80)} (${first.join(', ')} …), which may be too fine`,
        fix: 'If they differ only in what they read or set, make one tool with an argument for it.',
      })
  return found
}

/** A name that occurs twice. */
function repeated(names: readonly string[]): string | undefined {
  const known = new Set<string>()
  return names.find((name) => known.size === known.add(name).size)
}

/** Tools with similar names: how many there are, and the first of them. */
interface AlikeTools {
  count: number
  readonly first: string[]
}

/** Tools whose names have the same first two words, such as get_user_name and get_user_email. */
function alikeTools(names: readonly string[]): ReadonlyMap<string, AlikeTools> {
  const groups = new Map<string, AlikeTools>()
  for (const name of names) {
    const words = name
      .slice(0, LONGEST_NAME)
      .replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_')
      .split(/[_.-]+/)
    if (words.length < 3) continue
    const stem = words.slice(0, 2).join('_').toLowerCase()
    const group = groups.get(stem) ?? { count: 0, first: [] }
    groups.set(stem, group)
    if (group.count++ < 3) group.first.push(name.slice(0, 80))
  }
  return groups
}

function schemaOf(value: unknown): Schema | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
}
