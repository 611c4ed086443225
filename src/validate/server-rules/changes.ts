import { isObject, member, parsed, type Message } from '../message.ts'
import { absent, E_ONLY, failed, passed, TRANSPORTS, type Rule } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import { callTool } from '../survey.ts'
import type { Wire } from '../wire.ts'
import { allMessages } from './json-rpc.ts'

export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'
/** The member of a subscription that asks for a notification. */
const KINDS: ReadonlyMap<unknown, string> = new Map([
  ['notifications/tools/list_changed', 'toolsListChanged'],
  ['notifications/prompts/list_changed', 'promptsListChanged'],
  ['notifications/resources/list_changed', 'resourcesListChanged'],
  ['notifications/resources/updated', 'resourceSubscriptions'],
])
/** Notifications that a client can ask for. */
export const CHANGES: ReadonlySet<unknown> = new Set(KINDS.keys())
/** The most tools that are called, and the most resources that are watched. */
const MOST = 12
/** How long to wait for announcements. */
const QUIET_MS = 150

/** Our own check of what comes on subscriptions when something changes. */
export const CHANGE_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'V228',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A change is announced only to subscriptions that asked for it, each with its id (R228 and R229 after the first moment).',
    how: 'Listens for all changes, calls every tool, and compares all announcements of the run with the subscriptions on their connections.',
    fix: 'Send an announcement once for each subscription that asked for its kind, with the id of its request in _meta, as the same JSON type.',
    calls: true,
    isLast: true,
    async check(subject) {
      const wanted = await allChanges(subject)
      if (Object.keys(wanted).length > 0) await provoke(subject, wanted)
      const listens = new Map<Wire, readonly Message[]>()
      let seen = 0
      for (const { wire, received, message } of allMessages(subject)) {
        const kind = KINDS.get(message['method'])
        if (kind === undefined) continue
        seen++
        if (!listens.has(wire)) listens.set(wire, listensOn(wire))
        const found = wrongChange(message, kind, listens.get(wire) ?? [])
        if (found !== undefined) return failed(found, subject.trace.between(received.at - 3, received.at + 1))
      }
      return seen > 0 ? passed : absent('the server announced no change')
    },
  },
]

/** All changes that a server says it announces. */
async function allChanges(subject: ServerSubject): Promise<Message> {
  const capabilities = await subject.capabilities()
  const lists = ['tools', 'prompts', 'resources'].filter(
    (name) => member(capabilities, name, 'listChanged') === true,
  )
  const resources =
    member(capabilities, 'resources', 'subscribe') === true ? await subject.list('resources') : []
  const uris = resources.flatMap(({ uri }) => (typeof uri === 'string' ? [uri] : [])).slice(0, MOST)
  return {
    ...Object.fromEntries(lists.map((name) => [`${name}ListChanged`, true])),
    ...(uris.length > 0 && { resourceSubscriptions: uris }),
  }
}

/** Listens, and calls the tools, of which some may change something. */
async function provoke(subject: ServerSubject, notifications: Message): Promise<void> {
  const session = await subject.session()
  const { wire } = session
  const message = session.requestOf('subscriptions/listen', { notifications })
  const from = wire.trace.mark
  await wire.send(JSON.stringify(message), { headers: session.headersOf(message) })
  await wire.wait(() => true, { from, ms: Math.min(subject.ms, 1_000) })
  const { calls } = await subject.survey()
  const tools = calls.flatMap(({ tool, reply }) => (reply.message === undefined ? [] : [tool]))
  for (const tool of tools.slice(0, MOST)) await callTool(session, tool)
  await wire.wait(() => false, { ms: QUIET_MS })
}

/** The subscriptions that were begun on a connection. */
function listensOn({ sent }: Wire): readonly Message[] {
  return sent
    .filter(({ text }) => text.includes('"subscriptions/listen"'))
    .map(({ text }) => parsed(text))
    .filter(isObject)
}

/** What is wrong with the announcement of a change. */
function wrongChange(message: Message, kind: string, listens: readonly Message[]): string | undefined {
  const method = String(message['method'])
  const id = member(message, 'params', '_meta', SUBSCRIPTION_ID)
  if (id === undefined) return `${method} does not name its subscription`
  const own = listens.find((one) => one['id'] === id)
  if (own === undefined) return `${method} names the subscription ${JSON.stringify(id)}, which there is not`
  const asked = member(own, 'params', 'notifications', kind)
  const isAsked = asked === true || (Array.isArray(asked) && asked.length > 0)
  return isAsked ? undefined : `${method} comes on a subscription that did not ask for it`
}
