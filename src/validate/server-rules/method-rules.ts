import { isIn, METHODS, type Method } from '../methods.ts'
import { isNotification, isRequest, isResponse, member, type Message } from '../message.ts'
import { absent, ALL, failed, noneOf, passed, TRANSPORTS, unchecked, unless, type Rule } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { Reply, Session } from '../session.ts'
import { promptParams } from '../survey.ts'
import { isBrokenOff } from './broken-streams.ts'
import { requestTool } from '../tool-call.ts'
import { firstWrong } from './json-rpc.ts'
import { withTasks } from './task-runs.ts'

/** How long to look for a second response. */
const QUIET_MS = 100
/** How long a call may take that is made again since none was answered. */
const CALL_MS = 6_000

/** What is sent for a method whose parameters need not name anything that exists. */
const HARMLESS: Readonly<Record<string, Message>> = {
  'tools/call': { name: 'validator_unknown', arguments: {} },
  'resources/read': { uri: 'validator://missing/resource' },
  'resources/subscribe': { uri: 'validator://missing/resource' },
  'resources/unsubscribe': { uri: 'validator://missing/resource' },
  'prompts/get': { name: 'validator-unknown' },
  'completion/complete': {
    ref: { type: 'ref/prompt', name: 'validator-unknown' },
    argument: { name: 'validator', value: '' },
  },
  // A level that exists may be that of the whole server.
  'logging/setLevel': { level: 'validator' },
  'subscriptions/listen': { notifications: {} },
  'tasks/get': { taskId: 'validator-unknown' },
  'tasks/result': { taskId: 'validator-unknown' },
  'tasks/cancel': { taskId: 'validator-unknown' },
  'tasks/update': { taskId: 'validator-unknown', inputResponses: {} },
  'sampling/createMessage': {
    messages: [{ role: 'user', content: { type: 'text', text: 'validated' } }],
    maxTokens: 1,
  },
  'elicitation/create': { message: 'validated', requestedSchema: { type: 'object', properties: {} } },
}

/** Methods that are not sent to see whether they are known: greetings, which servers of several revisions always know. */
const GREETINGS: ReadonlySet<string> = new Set(['initialize', 'server/discover'])

/** Rules about all methods, by the table of them: which there are at a revision, and in which direction. */
export const METHOD_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'V092',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'Every request gets exactly one response, whatever its method is.',
    how: 'Sends a request of each method that the server declares, one that works and one that does not, and counts the responses.',
    fix: 'Answer each request once, with a result or an error.',
    async check(subject) {
      const session = await subject.session()
      const first = await askAll(session, await requestsOf(subject))
      const second = await askAll(session, await usesOf(subject, first))
      await session.wire.wait(() => false, { ms: QUIET_MS })
      const counts = countsOf(session)
      return noneOf(
        [...first, ...second].flatMap(({ method, reply }) => {
          const count = counts.get(reply.id) ?? 0
          if (count > 1) return [`${method} is answered ${count === 2 ? 'twice' : `${count} times`}`]
          // Over HTTP a request may be refused with a status.
          const isAnswered = reply.message !== undefined || (reply.http?.status ?? 0) >= 400
          return isAnswered ? [] : [`${method} gets no response: ${reply.problem ?? ''}`]
        }),
      )
    },
  },
  {
    id: 'V093',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A call of a tool gets exactly one response.',
    how: 'Calls every tool. If a stream ends without its response, resumes it; if no call is answered, calls one of them again and waits for longer.',
    fix: 'Answer each call once, with a result or an error.',
    calls: true,
    async check(subject) {
      const { calls } = await subject.survey()
      if (calls.length === 0) return absent('no tool was called')
      const session = await subject.forCalls()
      const counts = countsOf(session)
      const twice = calls.find(({ reply }) => (counts.get(reply.id) ?? 0) > 1)
      if (twice !== undefined)
        return failed(`a call of ${String(twice.tool['name'])} is answered more than once`)
      for (const call of calls)
        if (await isBrokenOff(session, call.reply))
          return failed(
            `the stream of a call of ${String(call.tool['name'])} ends without a response`,
            subject.trace.between(call.from),
          )
      if (calls.some(({ reply }) => reply.message !== undefined || (reply.http?.status ?? 0) >= 400))
        return passed
      // One tool alone may take long.
      const [one, other] = calls
      if (one === undefined || other === undefined) return unchecked('the only tool takes too long')
      const { message } = await requestTool(await subject.session(), [one.tool, one.input], { ms: CALL_MS })
      return unless(message === undefined ? 'no call of a tool is answered' : undefined)
    },
  },
  {
    id: 'V094',
    level: 'should',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'Methods of other revisions, of servers alone, and of capabilities that are not declared are unknown: -32601.',
    how: 'Sends a request of each of them with parameters that name nothing.',
    fix: 'Answer them with -32601, or declare the capability that they belong to.',
    async check(subject) {
      const capabilities = await subject.capabilities()
      const foreign = foreignMethods(subject, capabilities)
      const session = await subject.session()
      const replies = await askAll(
        session,
        foreign.map(({ method }) => [method, HARMLESS[method]] as const),
      )
      return noneOf(
        replies.flatMap(({ method, reply }, at) => {
          const why = foreign[at]?.why ?? ''
          const { result, error } = reply
          if (foreign[at]?.mayList === true && isEmptyList(method, result)) return []
          if (result !== undefined) return [`${method} is answered with a result, ${why}`]
          return KNOWING.has(error?.['code'])
            ? [`${method} is answered with code ${String(error?.['code'])}, ${why}`]
            : []
        }),
      )
    },
  },
  {
    id: 'V095',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A server sends only requests and notifications that the revision has, that servers send, and that belong to what it declared.',
    how: 'Compares all requests and notifications of the server with the table of methods.',
    fix: 'Do not send it to clients of this revision, or declare the capability that it belongs to.',
    isLast: true,
    async check(subject) {
      const capabilities = await subject.capabilities()
      return firstWrong(subject, ({ message }) => wrongMessage(subject, message, capabilities))
    },
  },
]

/** Codes with which a server shows that it knows a method. */
const KNOWING: ReadonlySet<unknown> = new Set([-32_602, -32_002, -32_021])

export type Ask = readonly [method: string, params: Message | undefined]

interface Asked {
  readonly method: string
  readonly reply: Reply
}

/** Sends requests at once, and waits for all of them. */
async function askAll(session: Session, asks: readonly Ask[]): Promise<readonly Asked[]> {
  const capabilities = session.isModern ? withTasks(session) : session.capabilities
  return Promise.all(
    asks.map(async ([method, params]) => ({
      method,
      reply: await session.request(method, params, { capabilities }),
    })),
  )
}

function isDeclared(capabilities: Message, { capability }: Method): boolean {
  if (capability === undefined) return true
  // Only the first dot separates: the names of extensions have dots of their own.
  const [first = '', rest] = /^([^.]*)(?:\.(.*))?$/.exec(capability)?.slice(1) ?? []
  if (rest === undefined) return Object.hasOwn(capabilities, first)
  const declared = member(capabilities, first, rest)
  return declared !== undefined && declared !== false
}

/** A request of each method that the server has, with parameters that name nothing. */
export async function requestsOf(subject: ServerSubject): Promise<readonly Ask[]> {
  const capabilities = await subject.capabilities()
  const known = METHODS.filter(
    (row) =>
      row.from !== 'server' &&
      !row.isNotification &&
      isIn(row, subject.revision) &&
      isDeclared(capabilities, row) &&
      row.method !== 'initialize' &&
      row.method !== 'subscriptions/listen',
  )
  return [...known.map(({ method }) => [method, HARMLESS[method]] as const), ['validator/unknown', undefined]]
}

/** Requests that use the first resource and the first prompt of the lists. */
async function usesOf(subject: ServerSubject, listed: readonly Asked[]): Promise<readonly Ask[]> {
  const capabilities = await subject.capabilities()
  const first = (method: string, key: string): unknown => {
    const items = member(listed.find((one) => one.method === method)?.reply.result, key)
    return Array.isArray(items) ? (items[0] as unknown) : undefined
  }
  const uri = member(first('resources/list', 'resources'), 'uri')
  const prompt = first('prompts/list', 'prompts')
  const canSubscribe = !subject.isModern && member(capabilities, 'resources', 'subscribe') === true
  const name = member(prompt, 'name')
  return [
    ...(typeof uri === 'string'
      ? ['resources/read', ...(canSubscribe ? ['resources/subscribe', 'resources/unsubscribe'] : [])].map(
          (method) => [method, { uri }] as const,
        )
      : []),
    ...(typeof name === 'string' ? [['prompts/get', promptParams(prompt as Message)] as const] : []),
    // The level may be that of the whole server, so it is changed only with consent.
    ...(!subject.isModern && subject.mayCall && Object.hasOwn(capabilities, 'logging')
      ? [['logging/setLevel', { level: 'debug' }] as const]
      : []),
  ]
}

/** How many responses came with each id. */
function countsOf({ wire }: Session): ReadonlyMap<unknown, number> {
  const counts = new Map<unknown, number>()
  for (const { messages } of wire.received)
    for (const message of messages)
      if (isResponse(message)) counts.set(message['id'], (counts.get(message['id']) ?? 0) + 1)
  return counts
}

interface Foreign {
  readonly method: string
  readonly why: string
  /** Whether it may be answered with an empty list. */
  readonly mayList?: boolean | undefined
}

/** The methods that a server does not have, and why. */
function foreignMethods({ revision }: ServerSubject, capabilities: Message): readonly Foreign[] {
  const names = new Set(METHODS.filter((row) => !row.isNotification).map(({ method }) => method))
  return [...names].flatMap((method) => {
    if (GREETINGS.has(method)) return []
    const rows = METHODS.filter((row) => row.method === method)
    const row = rows.find((one) => isIn(one, revision))
    if (row === undefined)
      return [
        {
          method,
          why: `and ${revision} does not have it`,
          mayList: rows.some(({ from }) => from !== 'server'),
        },
      ]
    if (row.from === 'server') return [{ method, why: 'and only servers send it' }]
    return isDeclared(capabilities, row)
      ? []
      : [{ method, why: `and the server does not declare ${String(row.capability)}`, mayList: true }]
  })
}

/** A server without a capability may list nothing. */
function isEmptyList(method: string, result: Message | undefined): boolean {
  if (result === undefined || !method.endsWith('/list')) return false
  const key = method === 'resources/templates/list' ? 'resourceTemplates' : method.split('/')[0]
  const items = result[key ?? '']
  return Array.isArray(items) && items.length === 0
}

function wrongMessage(
  { revision, isModern }: ServerSubject,
  message: Message,
  capabilities: Message,
): string | undefined {
  if (!isRequest(message) && !isNotification(message)) return undefined
  const { method } = message
  const rows = METHODS.filter(
    (row) => row.method === method && row.isNotification === isNotification(message),
  )
  if (rows.length === 0 && METHODS.some((row) => row.method === method))
    return `the server sent ${String(method)} ${isNotification(message) ? 'without' : 'with'} an id`
  // Others may be part of an extension.
  if (rows.length === 0) return undefined
  const row = rows.find((one) => isIn(one, revision))
  if (row === undefined) return `the server sent ${String(method)}, which ${revision} does not have`
  if (row.from === 'client') return `the server sent ${String(method)}, which only clients send`
  // Up to 2025-11-25, R038 and R039 look at the capabilities.
  return !isModern || isDeclared(capabilities, row)
    ? undefined
    : `the server sent ${String(method)}, and did not declare ${String(row.capability)}`
}
