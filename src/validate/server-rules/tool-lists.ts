import { isObject, member, type Message } from '../message.ts'
import {
  absent,
  ALL,
  D_TO_E,
  E_ONLY,
  failed,
  passed,
  TRANSPORTS,
  unchecked,
  unless,
  type Rule,
  type Verdict,
} from '../rule.ts'
import { readList, type ServerSubject } from '../server-subject.ts'
import type { Session } from '../session.ts'
import { callTool } from '../survey.ts'
import { HttpWire } from '../wire-http.ts'

const CHANGED = 'notifications/tools/list_changed'
/** The most tools that are called to see whether one changes the list. */
const MOST_CALLS = 12
const NOT_LISTED: Verdict = unchecked('the tools could not be listed')

/** Rules about the schemas in the list of tools, its order and its changes. */
export const TOOL_LIST_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R153',
    level: 'must',
    revisions: D_TO_E,
    transports: TRANSPORTS,
    rule: 'A schema without $schema is JSON Schema 2020-12.',
    how: 'Looks in the schemas of tools for forms that only older drafts have.',
    fix: 'Write "prefixItems" for a list of schemas in "items", numbers in "exclusiveMinimum", or name the draft in $schema.',
    async check(subject) {
      const tools = await subject.list('tools')
      if (tools.length === 0) return absent('the server lists no tools')
      for (const tool of tools)
        for (const key of ['inputSchema', 'outputSchema']) {
          const found = olderForm(tool[key])
          if (found !== undefined)
            return failed(`the ${key} of ${String(tool['name'])} has no $schema, and ${found}`)
        }
      return passed
    },
  },
  {
    id: 'R156',
    level: 'should',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A server that declares tools.listChanged announces when its tools change.',
    how: 'Lists the tools, calls them, lists them again, and looks for the announcement if the list has changed.',
    fix: `Send ${CHANGED} when you add, remove or change a tool, or do not declare listChanged.`,
    calls: true,
    async check(subject) {
      if (member(await subject.capabilities(), 'tools', 'listChanged') !== true)
        return absent('the server does not declare tools.listChanged')
      const session = await subject.session()
      if (!(await listenFor(session))) return absent('the server has no stream for announcements')
      const from = subject.trace.mark
      const before = await namesOf(session)
      const { calls } = await subject.survey()
      // Tools that did not answer before would only take time.
      const tools = calls.flatMap(({ tool, reply }) => (reply.message === undefined ? [] : [tool]))
      // At once, as in the survey: some tools take a while.
      await Promise.all(tools.slice(0, MOST_CALLS).map((tool) => callTool(session, tool)))
      const after = await namesOf(session)
      if (before === undefined || after === undefined) return NOT_LISTED
      if (isSame(before.toSorted(), after.toSorted())) return absent('the list of tools did not change')
      const announced = await session.wire.wait(
        ({ messages }) => messages.some(({ method }) => method === CHANGED),
        { from, ms: Math.min(subject.ms, 1_000) },
      )
      return unless(announced === undefined ? `the tools changed, and ${CHANGED} did not come` : undefined)
    },
  },
  {
    id: 'R157',
    level: 'should',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'The tools are always listed in the same order.',
    how: 'Reads the whole list twice.',
    fix: 'Sort the tools, or keep the order in which they were defined.',
    async check(subject) {
      const session = await subject.shared()
      const [first, second] = [await namesOf(session), await namesOf(session)]
      if (first === undefined || second === undefined) return NOT_LISTED
      return unless(
        isSame(first.toSorted(), second.toSorted()) && !isSame(first, second)
          ? 'the same tools are listed in another order'
          : undefined,
      )
    },
  },
  {
    id: 'R158',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'The list of tools does not depend on the connection.',
    how: 'Reads the whole list on two connections.',
    fix: 'Make lists depend on the caller only, never on earlier requests.',
    async check(subject) {
      const here = await namesOf(await subject.shared())
      const there = await namesOf(await subject.session())
      if (here === undefined || there === undefined) return NOT_LISTED
      return unless(
        isSame(here.toSorted(), there.toSorted())
          ? undefined
          : 'another connection gets another list of tools',
      )
    },
  },
]

/** The form of an older draft in a schema that names none. */
function olderForm(schema: unknown, depth = 0): string | undefined {
  if (!isObject(schema) || Object.hasOwn(schema, '$schema') || depth > 32) return undefined
  if (Array.isArray(schema['items'])) return '"items" is a list, as in draft-07'
  for (const key of ['exclusiveMinimum', 'exclusiveMaximum'])
    if (typeof schema[key] === 'boolean') return `"${key}" is a boolean, as in draft-04`
  if (typeof schema['required'] === 'boolean') return '"required" is a boolean, as in draft-03'
  for (const part of partsOf(schema)) {
    const found = olderForm(part, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

const NAMED = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']
const LISTED = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
const SINGLE = ['items', 'contains', 'additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else']

/** The schemas in a schema. */
function partsOf(schema: Message): readonly unknown[] {
  return [
    ...NAMED.flatMap((key) => (isObject(schema[key]) ? Object.values(schema[key]) : [])),
    ...LISTED.flatMap((key) => (Array.isArray(schema[key]) ? (schema[key] as readonly unknown[]) : [])),
    ...SINGLE.map((key) => schema[key]),
  ]
}

/** Makes announcements come. False if they cannot. */
async function listenFor(session: Session): Promise<boolean> {
  const { wire } = session
  if (session.isModern) {
    const message = session.requestOf('subscriptions/listen', { notifications: { toolsListChanged: true } })
    const from = wire.trace.mark
    await wire.send(JSON.stringify(message), { headers: session.headersOf(message) })
    const first = await wire.wait(() => true, { from, ms: Math.min(session.ms, 2_000) })
    return member(first?.messages[0], 'params', 'notifications', 'toolsListChanged') === true
  }
  return wire instanceof HttpWire ? (await wire.get()).isStream : true
}

/** The names of all tools in their order; undefined if they could not be listed. */
async function namesOf(session: Session): Promise<readonly string[] | undefined> {
  const { items, isWhole } = await readList(session, 'tools')
  return isWhole ? items.map(({ name }) => String(name)) : undefined
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
