import { setImmediate as nextTurn } from 'node:timers/promises'
import { Turns } from '../../base/next-task.ts'
import { isObject, type Message } from '../message.ts'
import { absent, ALL, noneOf, TRANSPORTS, unchecked, unless, type Rule, type Verdict } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import { RUN_TIME, schemaProblem, unportable, type SchemaProblem } from '../tool-schema.ts'

/** Names that all model vendors accept. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/
const ARGUMENT_NAME = /^[a-zA-Z0-9_.-]{1,64}$/
/** What some vendors accept, and what requests to a model can reasonably carry. */
const MOST_TOOLS = 128
const LONGEST_DESCRIPTION = 1_024
const TOOL_BYTES = 16_384
const LIST_BYTES = 262_144

const SCHEMAS = ['inputSchema', 'outputSchema'] as const
const UNREAD = 'the patterns in the schemas of the tools take too long to analyse'

const EVERYWHERE = { revisions: ALL, transports: TRANSPORTS } as const

/** Our own checks of the schemas of tools: valid, accepted by all model vendors, and not too large. */
export const SCHEMA_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'V010',
    level: 'must',
    ...EVERYWHERE,
    rule: 'The schemas of tools are valid JSON Schemas.',
    how: 'Reads the input and output schema of every tool.',
    fix: 'Correct the schema at the named place; keywords and types must be those of JSON Schema 2020-12.',
    async check(subject) {
      const problems = await problemsOf(subject)
      const verdict = await eachSchema(subject, (schema) => {
        const problem = problems.get(schema)
        return problem?.isInvalid === true ? problem.text : undefined
      })
      const isUnread = [...problems.values()].some((problem) => problem.isUnread)
      return isUnread && verdict.is === 'passed' ? unchecked(UNREAD) : verdict
    },
  },
  {
    id: 'V011',
    level: 'convention',
    ...EVERYWHERE,
    rule: 'Names of tools and arguments are accepted by all model vendors.',
    how: 'Looks at the names of all tools, and of the arguments in their input schemas.',
    fix: 'Use 1 to 64 of the characters a-z, A-Z, 0-9, _ and -; names of arguments may also have dots. One other name can make a vendor reject all tools.',
    check: (subject) =>
      eachTool(subject, ({ name, inputSchema }) => {
        if (!TOOL_NAME.test(String(name))) return 'the name is not accepted by all vendors'
        const properties = isObject(inputSchema) ? inputSchema['properties'] : undefined
        const odd = Object.keys(isObject(properties) ? properties : {}).find(
          (key) => !ARGUMENT_NAME.test(key),
        )
        return odd === undefined
          ? undefined
          : `the argument ${JSON.stringify(odd).slice(0, 100)} is not accepted by all vendors`
      }),
  },
  {
    id: 'V012',
    level: 'convention',
    ...EVERYWHERE,
    rule: 'The schemas of tools use only what all model vendors and careful clients accept.',
    how: 'Looks for keywords, references, patterns and sizes in the schemas that some of them reject.',
    fix: 'Use an object with plain properties, give every array items, and move unions into a property; refer only to #/$defs.',
    async check(subject) {
      const problems = await problemsOf(subject)
      return eachSchema(subject, (schema, isInput) => {
        const problem = problems.get(schema)
        if (problem !== undefined) return problem.isInvalid ? undefined : problem.text
        return isInput ? unportable(schema) : undefined
      })
    },
  },
  {
    id: 'V013',
    level: 'convention',
    ...EVERYWHERE,
    rule: `There are at most ${MOST_TOOLS} tools, with descriptions of at most ${LONGEST_DESCRIPTION} characters; a definition has at most ${TOOL_BYTES / 1024} kB, and all have ${LIST_BYTES / 1024} kB.`,
    how: 'Measures the list of tools.',
    fix: 'Shorten descriptions and schemas, or split the server: every request to a model carries all definitions.',
    async check(subject) {
      const tools = await subject.list('tools')
      const bytes = tools.map((tool) => Buffer.byteLength(JSON.stringify(tool)))
      const all = bytes.reduce((sum, one) => sum + one, 0)
      if (tools.length > MOST_TOOLS) return unless(`there are ${tools.length} tools`)
      if (all > LIST_BYTES) return unless(`all definitions have ${all} bytes`)
      return eachTool(subject, (tool) => {
        const size = bytes[tools.indexOf(tool)] ?? 0
        if (size > TOOL_BYTES) return `the definition has ${size} bytes`
        const { description } = tool
        return typeof description === 'string' && description.length > LONGEST_DESCRIPTION
          ? `the description has ${description.length} characters`
          : undefined
      })
    },
  },
]

/** Fails with the first tools that something is wrong with. */
export async function eachTool(
  subject: ServerSubject,
  wrong: (tool: Message) => string | undefined,
): Promise<Verdict> {
  const tools = await subject.list('tools')
  if (tools.length === 0) return absent('the server has no tools')
  return noneOf(faultsOf(tools, wrong))
}

async function* faultsOf(
  tools: readonly Message[],
  wrong: (tool: Message) => string | undefined,
): AsyncGenerator<string> {
  // The time for the run may end meanwhile.
  const turns = new Turns()
  for (const tool of tools) {
    if (turns.isOver()) await turns.next()
    const found = wrong(tool)
    if (found !== undefined) yield `tool ${JSON.stringify(tool['name'])?.slice(0, 150)}: ${found}`
  }
}

/** What is wrong with the schemas of all tools, found out once. Other work goes on between tools. */
function problemsOf(subject: ServerSubject): Promise<ReadonlyMap<Message, SchemaProblem>> {
  return subject.once('schemas', async () => {
    const problems = new Map<Message, SchemaProblem>()
    for (const tool of await subject.list('tools')) {
      for (const key of SCHEMAS) {
        const schema = tool[key]
        const problem = isObject(schema) ? schemaProblem(schema, RUN_TIME) : undefined
        if (isObject(schema) && problem !== undefined) problems.set(schema, problem)
      }
      await nextTurn()
    }
    return problems
  })
}

/** Fails with the first schemas that something is wrong with. */
function eachSchema(
  subject: ServerSubject,
  wrong: (schema: Message, isInput: boolean) => string | undefined,
): Promise<Verdict> {
  return eachTool(subject, (tool) => {
    const faults = SCHEMAS.flatMap((key) => {
      // Another rule says that a schema is missing.
      const schema = tool[key]
      const found = isObject(schema) ? wrong(schema, key === 'inputSchema') : undefined
      return found === undefined ? [] : [`its ${key} ${found}`]
    })
    return faults.length === 0 ? undefined : faults.join(', and ')
  })
}
