import {
  isObject,
  isRequest,
  isResponse,
  member,
  messagesIn,
  parsed,
  type Message,
  type Received,
} from '../message.ts'
import {
  A_TO_D,
  absent,
  ALL,
  C_TO_E,
  E_ONLY,
  failed,
  passed,
  TRANSPORTS,
  unchecked,
  unless,
  type Rule,
  type Verdict,
  answeredWith,
} from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { Session } from '../session.ts'
import { HttpWire } from '../wire-http.ts'
import type { Wire } from '../wire.ts'
import { checkBadText } from './bad-text.ts'
import { requestFinder } from './exchanges.ts'
import { ID_RULES } from './ids.ts'

/** A message of the server, and the connection that it came on. */
interface Seen {
  readonly wire: Wire
  readonly received: Received
  readonly message: Message
}

/** Every message that the server has sent in this run. */
export function allMessages({ wires }: ServerSubject): readonly Seen[] {
  return wires.flatMap((wire) =>
    wire.received.flatMap((received) => received.messages.map((message) => ({ wire, received, message }))),
  )
}

/** The conversation on each connection. */
export function sessionsByWire({ sessions }: ServerSubject): ReadonlyMap<Wire, Session> {
  return new Map(sessions.toReversed().map((session) => [session.wire, session]))
}

/** Every message that the validator has sent in this run. */
export function sentBy({ wires }: ServerSubject): readonly Message[] {
  return wires.flatMap(({ sent }) => sent.flatMap(({ text }) => messagesIn(parsed(text))))
}

/** Fails with the first message that something is wrong with. */
export async function firstWrong(
  subject: ServerSubject,
  wrong: (seen: Seen) => string | undefined,
): Promise<Verdict> {
  await subject.survey()
  const all = allMessages(subject)
  if (all.length === 0) return unchecked('the server sent no message')
  for (const seen of all) {
    const found = wrong(seen)
    if (found !== undefined)
      return failed(found, subject.trace.between(seen.received.at - 3, seen.received.at + 1))
  }
  return passed
}

/** Whether it is a result of 2026-07-28, and not the answer to a check with an older `initialize`. */
export function isModernResult(result: unknown): result is Message {
  return isObject(result) && !Object.hasOwn(result, 'protocolVersion')
}

/** The codes of JSON-RPC. */
const DEFINED: ReadonlySet<number> = new Set([-32_700, -32_600, -32_601, -32_602, -32_603])

export const JSON_RPC_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R001',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'Every message has "jsonrpc": "2.0".',
    how: 'Looks at every message of the server.',
    fix: 'Send "jsonrpc": "2.0" in every request, notification and response.',
    isLast: true,
    check: (subject) =>
      firstWrong(subject, ({ message }) =>
        message['jsonrpc'] === '2.0'
          ? undefined
          : `a message has "jsonrpc": ${JSON.stringify(message['jsonrpc'])}`,
      ),
  },
  {
    id: 'R002',
    level: 'must',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'The id of a request is a string or an integer, never null.',
    how: 'Looks at every request of the server.',
    fix: 'Give each request a string or an integer as its id.',
    isLast: true,
    async check(subject) {
      await subject.survey()
      const requests = allMessages(subject).filter(
        ({ message }) => Object.hasOwn(message, 'id') && Object.hasOwn(message, 'method'),
      )
      if (requests.length === 0) return unchecked('the server sent no request')
      const wrong = requests.find(
        ({ message: { id } }) => typeof id !== 'string' && !Number.isSafeInteger(id),
      )
      return unless(wrong && `a request has the id ${JSON.stringify(wrong.message['id'])}`)
    },
  },
  {
    id: 'R003',
    level: 'must',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'A server uses no id for two of its requests in a session.',
    how: 'Calls every tool, and compares the ids of all requests of the server.',
    fix: 'Count the requests of a session for their ids.',
    calls: true,
    isLast: true,
    async check(subject) {
      await subject.survey()
      const { wire } = await subject.forCalls()
      // Without a session each POST may be a conversation of its own.
      if (wire instanceof HttpWire && wire.more['mcp-session-id'] === undefined)
        return absent('the server has no sessions')
      const requests = wire.received.flatMap(({ messages, eventId }) =>
        messages.filter(isRequest).map(({ id }) => ({ id, eventId })),
      )
      if (requests.length < 2) return unchecked('the server sent fewer than two requests')
      // An event that is repeated on a resumed stream is the same request.
      const events = new Map<unknown, string | undefined>()
      const twice = requests.find(({ id, eventId }) => {
        const isKnown = events.has(id) && (eventId === undefined || events.get(id) !== eventId)
        events.set(id, eventId)
        return isKnown
      })
      return unless(twice && `two requests have the id ${JSON.stringify(twice.id)}`)
    },
  },
  ...ID_RULES,
  {
    id: 'R006',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A response has either a result or an error.',
    how: 'Looks at every response of the server.',
    fix: 'Send "result" or "error", never both and never none.',
    isLast: true,
    check: (subject) =>
      firstWrong(subject, ({ message }) => {
        if (Object.hasOwn(message, 'method')) return undefined
        const count = ['result', 'error'].filter((key) => Object.hasOwn(message, key)).length
        return count === 1
          ? undefined
          : `a response has ${count === 0 ? 'neither result nor error' : 'a result and an error'}`
      }),
  },
  {
    id: 'R007',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'An error has an integer as its code and a text as its message.',
    how: 'Looks at every error of the server, after asking for an unknown method.',
    fix: 'Send "error": { "code": -32601, "message": "…" }.',
    isLast: true,
    async check(subject) {
      await subject.survey()
      const errors = allMessages(subject).filter(({ message }) => Object.hasOwn(message, 'error'))
      if (errors.length === 0) return unchecked('the server sent no error')
      const wrong = errors.find(
        ({ message }) =>
          !Number.isInteger(member(message, 'error', 'code')) ||
          typeof member(message, 'error', 'message') !== 'string',
      )
      return unless(wrong && `an error is ${JSON.stringify(wrong.message['error']).slice(0, 200)}`)
    },
  },
  {
    id: 'R008',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A notification gets no reply of any kind.',
    how: 'Sends an unknown notification, then a request, and looks for anything else before the response.',
    fix: 'Never answer a message without an id, not even with an error.',
    async check(subject) {
      const session = await subject.session()
      const from = subject.trace.mark
      const http = await session.notify('notifications/validator')
      await session.request(subject.isModern ? 'server/discover' : 'ping', undefined, { id: 'after' })
      const reply = session.wire
        .messagesFrom(from)
        .find((message) => isResponse(message) && message['id'] !== 'after')
      // Over HTTP a notification may be refused with a status and an error without an id.
      if (reply !== undefined && http !== undefined && http.status >= 400 && (reply['id'] ?? null) === null)
        return passed
      return unless(reply && `a notification is answered with ${JSON.stringify(reply).slice(0, 200)}`)
    },
  },
  {
    id: 'R009',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'Text that is not JSON is answered with error -32700 (over HTTP with status 400), without an id or with null.',
    how: 'Sends a broken JSON text.',
    fix: 'Answer with { "jsonrpc": "2.0", "id": null, "error": { "code": -32700, … } }, and status 400 over HTTP.',
    check: (subject) =>
      checkBadText(subject, {
        text: '{"jsonrpc":"2.0","id":1,"method":',
        code: -32_700,
        method: 'server/discover',
        status: 400,
      }),
  },
  {
    id: 'R010',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'JSON that is not a valid message is answered with error -32600.',
    how: 'Sends a request whose method is a number.',
    fix: 'Check the form of a message before you use it; answer with -32600.',
    check: (subject) =>
      checkBadText(subject, {
        text: '{"jsonrpc":"2.0","id":77,"method":17}',
        code: -32_600,
        method: '17',
        isUnmatched: true,
      }),
  },
  {
    id: 'R011',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'An unknown method is answered with error -32601.',
    how: 'Sends a request for a method that does not exist.',
    fix: 'Answer with -32601 "Method not found".',
    async check(subject) {
      const { error, problem } = await (await subject.shared()).request('validator/unknown')
      if (error === undefined) return failed(problem ?? 'an unknown method is answered with a result')
      return answeredWith(-32_601, error, 'an unknown method')
    },
  },
  {
    id: 'R012',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'Parameters that break the schema of the method are answered with error -32602.',
    how: 'Asks for a tool, prompt or resource with a number as its name.',
    fix: 'Check the parameters of each method; answer with -32602 "Invalid params".',
    async check(subject) {
      const capabilities = await subject.capabilities()
      const [method, key] =
        [
          ['tools/call', 'name', 'tools'] as const,
          ['prompts/get', 'name', 'prompts'] as const,
          ['resources/read', 'uri', 'resources'] as const,
        ].find(([, , capability]) => Object.hasOwn(capabilities, capability)) ?? []
      if (method === undefined || key === undefined)
        return absent('the server has no tools, prompts or resources')
      const { error, problem } = await (
        await subject.shared()
      ).request(method, { [key]: 17 }, { headers: { 'mcp-name': '17' } })
      if (error === undefined)
        return failed(problem ?? `${method} with a number as its ${key} is answered with a result`)
      // A header that does not match the body is another error at 2026-07-28.
      const codes = subject.isModern && subject.transport === 'http' ? [-32_602, -32_020] : [-32_602]
      return unless(
        codes.includes(Number(error['code']))
          ? undefined
          : `${method} with a number as its ${key} is answered with code ${String(error['code'])}`,
      )
    },
  },
  {
    id: 'R016',
    level: 'convention',
    revisions: C_TO_E,
    transports: TRANSPORTS,
    rule: 'A batch is refused with error -32600, since these revisions have none.',
    how: 'Sends a list with one request.',
    fix: 'Answer a list with -32600, and status 400 over HTTP.',
    async check(subject) {
      const method = subject.isModern ? 'server/discover' : 'ping'
      const request = (await subject.shared()).requestOf(method, undefined, { id: 78 })
      const text = JSON.stringify([request])
      return checkBadText(subject, { text, code: -32_600, method, status: 400, isUnmatched: true })
    },
  },
  {
    id: 'R017',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'Every result has a resultType that the client knows.',
    how: 'Looks at every result of the server.',
    fix: 'Add "resultType": "complete" to each result; send other types of your own only to clients that declare the extension.',
    isLast: true,
    check(subject) {
      const requestOf = requestFinder()
      return firstWrong(subject, ({ wire, received, message }) => {
        const result = member(message, 'result')
        if (!isModernResult(result)) return undefined
        const type = result['resultType']
        if (type === 'complete' || type === 'input_required') return undefined
        const method = type === 'task' ? requestOf(wire, received, message['id'])?.['method'] : undefined
        // Other rules are about calls that become tasks.
        return method === 'tools/call'
          ? undefined
          : `a result has the resultType ${JSON.stringify(type)?.slice(0, 100)}`
      })
    },
  },
  {
    id: 'R020',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A server sends no requests.',
    how: 'Looks at every message of the server.',
    fix: 'Ask the client with a result of the type "input_required" instead.',
    isLast: true,
    check: (subject) =>
      firstWrong(subject, ({ message }) =>
        Object.hasOwn(message, 'id') && Object.hasOwn(message, 'method')
          ? `the server sent the request ${String(message['method'])}`
          : undefined,
      ),
  },
  {
    id: 'R021',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'Of the codes -32020 to -32099, only -32020, -32021 and -32022 are used; -32002 and -32042 are not.',
    how: 'Looks at every error of the server.',
    fix: 'Use -32602 for a missing resource, and codes outside of -32768 to -32000 for your own errors.',
    isLast: true,
    check: (subject) =>
      firstWrong(subject, ({ message }) => {
        const code = member(message, 'error', 'code')
        if (typeof code !== 'number') return undefined
        const isReserved = code <= -32_020 && code >= -32_099 && ![-32_020, -32_021, -32_022].includes(code)
        return isReserved || code === -32_002 ? `an error has the code ${code}` : undefined
      }),
  },
  {
    id: 'R022',
    level: 'should',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'Codes of the server itself lie outside of -32768 to -32000.',
    how: 'Looks at every error of the server for codes in this range that nobody has defined.',
    fix: 'Use positive codes, or those below -32768, for your own errors.',
    isLast: true,
    check: (subject) =>
      firstWrong(subject, ({ message }) => {
        const code = member(message, 'error', 'code')
        if (typeof code !== 'number' || code < -32_768 || code > -32_000) return undefined
        // R021 is about those that were given another meaning.
        const isKnown = DEFINED.has(code) || (code <= -32_020 && code >= -32_099) || code === -32_002
        return isKnown ? undefined : `an error has the code ${code}, which is reserved`
      }),
  },
]
