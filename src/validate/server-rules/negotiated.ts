import type { Revision } from '../../protocol/revisions.ts'
import { isNotification, isObject, isRequest, member, type Message } from '../message.ts'
import { passed, TRANSPORTS, unless, type Level, type Rule } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import { callTool } from '../survey.ts'
import type { Session } from '../session.ts'
import { allMessages, sessionsByWire } from './json-rpc.ts'

/** The capability of the server that a notification belongs to, and the member of it that must be true. */
const OF_SERVER: ReadonlyMap<unknown, readonly [string, string?]> = new Map<
  unknown,
  readonly [string, string?]
>([
  ['notifications/message', ['logging']],
  ['notifications/tools/list_changed', ['tools', 'listChanged']],
  ['notifications/prompts/list_changed', ['prompts', 'listChanged']],
  ['notifications/resources/list_changed', ['resources', 'listChanged']],
  ['notifications/resources/updated', ['resources', 'subscribe']],
])

/** The capability of the client that a request of the server needs. */
const OF_CLIENT: ReadonlyMap<unknown, string> = new Map([
  ['roots/list', 'roots'],
  ['sampling/createMessage', 'sampling'],
  ['elicitation/create', 'elicitation'],
])

/** The revision that brought a type of content. Those of the first revision are not here. */
const CONTENT_SINCE: ReadonlyMap<unknown, Revision> = new Map<unknown, Revision>([
  ['audio', '2025-03-26'],
  ['resource_link', '2025-06-18'],
])

/** The most tools that are called by a client without capabilities. */
const MOST_CALLS = 5

/** Rules about what was negotiated: advice at first, and mandatory from 2025-06-18 on. */
export const NEGOTIATED_RULES: readonly Rule<ServerSubject>[] = [
  ruleOf('R038', 'should', ['2024-11-05', '2025-03-26']),
  ruleOf('R039', 'must', ['2025-06-18', '2025-11-25']),
]

function ruleOf(id: string, level: Level, revisions: readonly Revision[]): Rule<ServerSubject> {
  return {
    id,
    level,
    revisions,
    transports: TRANSPORTS,
    rule: 'A server uses only the version and the capabilities that were negotiated.',
    how: 'Looks at all requests and notifications of the server; with --allow-calls, also at those to a client that declares no capability.',
    fix: 'Declare a capability, and listChanged and subscribe, before you use it; ask only for what the client declared.',
    isLast: true,
    async check(subject) {
      await subject.survey()
      if (subject.mayCall) await callWithout(subject)
      const declared = await subject.capabilities()
      const sessions = sessionsByWire(subject)
      for (const { wire, message } of allMessages(subject)) {
        const wrong =
          undeclared(message, declared) ??
          unasked(sessions.get(wire), message) ??
          tooNew(message, subject.revision)
        if (wrong !== undefined) return unless(wrong)
      }
      return passed
    },
  }
}

function undeclared(message: Message, capabilities: Message): string | undefined {
  const [capability, key] = OF_SERVER.get(message['method']) ?? []
  if (!isNotification(message) || capability === undefined) return undefined
  const name = key === undefined ? capability : `${capability}.${key}`
  const isDeclared =
    key === undefined
      ? Object.hasOwn(capabilities, capability)
      : member(capabilities, capability, key) === true
  return isDeclared ? undefined : `the server sent ${String(message['method'])}, and did not declare ${name}`
}

function unasked(session: Session | undefined, message: Message): string | undefined {
  const capability = OF_CLIENT.get(message['method'])
  return !isRequest(message) ||
    capability === undefined ||
    session === undefined ||
    Object.hasOwn(session.capabilities, capability)
    ? undefined
    : `the server sent ${String(message['method'])} to a client that did not declare ${capability}`
}

/** A block of content that the revision does not have yet. */
function tooNew({ result }: Message, revision: Revision): string | undefined {
  const messages = member(result, 'messages')
  const content = member(result, 'content')
  const blocks = [
    ...(Array.isArray(content) ? (content as readonly unknown[]) : []),
    ...(Array.isArray(messages) ? messages.map((one: unknown) => member(one, 'content')) : []),
  ].filter(isObject)
  const since = (block: Message): Revision | undefined => CONTENT_SINCE.get(block['type'])
  const early = blocks.find((block) => (since(block) ?? revision) > revision)
  return (
    early &&
    `the server sent content of the type ${String(early['type'])}, which came with ${String(since(early))}`
  )
}

/** Calls the tools that asked something, as a client that declares nothing. */
async function callWithout(subject: ServerSubject): Promise<void> {
  const { calls } = await subject.survey()
  const asking = calls.filter(({ reply }) =>
    reply.before.some(({ messages }) => messages.some(({ method }) => OF_CLIENT.has(method))),
  )
  if (asking.length === 0) return
  const session = await subject.session({})
  for (const { tool } of asking.slice(0, MOST_CALLS)) await callTool(session, tool)
}
