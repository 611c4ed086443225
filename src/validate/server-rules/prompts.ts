import { isObject, member, parsed, type Message } from '../message.ts'
import {
  A_TO_D,
  absent,
  ALL,
  B_TO_E,
  E_ONLY,
  failed,
  passed,
  TRANSPORTS,
  unchecked,
  unless,
  type Rule,
  answeredWith,
} from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import { callTool } from '../survey.ts'
import { requestTool } from '../tool-call.ts'
import { HttpWire } from '../wire-http.ts'
import { allMessages } from './json-rpc.ts'

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']
/** The most completions that are asked for. */
const MOST_REFS = 20
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel'

/** Rules about prompts, completion and log messages. */
export const PROMPT_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R178',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'Each prompt has a name, and returns messages of the roles user and assistant.',
    how: 'Gets every listed prompt.',
    fix: 'Return { "messages": [{ "role": "user", "content": { … } }] }.',
    async check(subject) {
      const listed = await subject.list('prompts')
      if (listed.length === 0) return absent('the server has no prompts')
      if (listed.some(({ name }) => typeof name !== 'string')) return failed('a prompt has no name')
      const { prompts } = await subject.survey()
      const results = prompts.flatMap(({ name, reply: { result } }) =>
        result === undefined ? [] : [{ name, result }],
      )
      if (results.length === 0) return unchecked('no prompt could be read')
      for (const { name, result } of results) {
        if (result['resultType'] === 'input_required') continue
        const { messages } = result
        const isGood =
          Array.isArray(messages) &&
          messages.every(
            (one) =>
              ['user', 'assistant'].includes(String(member(one, 'role'))) && isObject(member(one, 'content')),
          )
        if (!isGood) return failed(`the prompt ${name} returns no proper messages`)
      }
      return passed
    },
  },
  {
    id: 'R179',
    level: 'should',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'An unknown prompt, or one without an argument that it requires, is answered with error -32602.',
    how: 'Gets a prompt that does not exist, and one without its required arguments.',
    fix: 'Answer with -32602.',
    async check(subject) {
      if (!Object.hasOwn(await subject.capabilities(), 'prompts')) return absent('the server has no prompts')
      const session = await subject.shared()
      const needy = (await subject.list('prompts')).find(
        ({ arguments: list }) => Array.isArray(list) && list.some((one) => member(one, 'required') === true),
      )
      for (const name of ['validator-unknown', ...(needy === undefined ? [] : [String(needy['name'])])]) {
        const { error, problem } = await session.request('prompts/get', { name })
        const what =
          name === 'validator-unknown' ? 'an unknown prompt' : `the prompt ${name} without its arguments`
        if (error === undefined) return failed(problem ?? `${what} is answered with a result`)
        if (error['code'] !== -32_602) return failed(`${what} is answered with code ${String(error['code'])}`)
      }
      return passed
    },
  },
  {
    id: 'R180',
    level: 'must',
    revisions: B_TO_E,
    transports: TRANSPORTS,
    rule: 'A server that completes declares the capability completions.',
    how: 'If the capability is not declared, asks for completions of the arguments of prompts and the variables of templates.',
    fix: 'Declare "completions": {}, or answer completion/complete with -32601.',
    async check(subject) {
      const refs = await refsOf(subject)
      if (refs.length === 0) return absent('the server has nothing to complete')
      if (Object.hasOwn(await subject.capabilities(), 'completions')) return passed
      const completions = await completionsOf(subject, refs)
      return unless(
        completions.length > 0 ? 'the server completes, and does not declare completions' : undefined,
      )
    },
  },
  {
    id: 'R181',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A completion has at most 100 values, which are texts.',
    how: `Asks for completions of the arguments of prompts and the variables of templates, of ${MOST_REFS} at most.`,
    fix: 'Return at most 100 texts, and say hasMore.',
    async check(subject) {
      const refs = await refsOf(subject)
      if (refs.length === 0) return absent('the server has nothing to complete')
      const completions = await completionsOf(subject, refs)
      if (completions.length === 0) return absent('the server does not complete')
      for (const result of completions) {
        const values = member(result, 'completion', 'values')
        if (!Array.isArray(values)) return failed('the result has no completion.values')
        if (values.length > 100) return failed(`a completion has ${values.length} values`)
        if (!values.every((value) => typeof value === 'string'))
          return failed('a value of a completion is not a text')
      }
      return passed
    },
  },
  {
    id: 'R184',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A server that sends log messages declares the capability logging.',
    how: 'Looks at every message of the server.',
    fix: 'Declare "logging": {}.',
    isLast: true,
    async check(subject) {
      await subject.survey()
      const isLogged = allMessages(subject).some(
        ({ message }) => message['method'] === 'notifications/message',
      )
      if (!isLogged) return absent('the server sent no log message')
      return unless(
        Object.hasOwn(await subject.capabilities(), 'logging')
          ? undefined
          : 'the server logs, and does not declare logging',
      )
    },
  },
  {
    id: 'R185',
    level: 'must',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'A server with the capability logging accepts the eight levels, and answers others with -32602.',
    how: 'Sends logging/setLevel with a level that does not exist; with --allow-calls also with every level, debug last.',
    fix: 'Answer {} for debug to emergency, and -32602 for others.',
    async check(subject) {
      if (!Object.hasOwn(await subject.capabilities(), 'logging')) return absent('the server does not log')
      const session = await subject.session()
      const { error, problem } = await session.request('logging/setLevel', { level: 'validator' })
      if (error === undefined) return failed(problem ?? 'an unknown level is accepted')
      const verdict = answeredWith(-32_602, error, 'an unknown level')
      // The level may be that of the whole server, so it is changed only with consent.
      if (verdict.is !== 'passed' || !subject.mayCall) return verdict
      for (const level of LEVELS.toReversed()) {
        const { result, problem: silence } = await session.request('logging/setLevel', { level })
        if (result === undefined) return failed(silence ?? `the level ${level} is refused`)
      }
      return passed
    },
  },
  {
    id: 'R186',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'No log message is sent for a request that did not ask for them.',
    how: 'Calls the tools that log again, without a level.',
    fix: 'Send log messages only if the request has _meta["io.modelcontextprotocol/logLevel"].',
    calls: true,
    async check(subject) {
      const { calls } = await subject.survey()
      const logging = calls.filter(({ reply }) => reply.before.some(({ messages }) => messages.some(isLog)))
      if (logging.length === 0) return unchecked('no tool logged')
      const session = await subject.session()
      for (const { tool, input } of logging) {
        const from = subject.trace.mark
        await requestTool(session, [tool, input])
        if (session.wire.messagesFrom(from).some(isLog))
          return failed(`the tool ${String(tool['name'])} logs, and nobody asked for it`)
      }
      return passed
    },
  },
  {
    id: 'R187',
    level: 'must',
    revisions: E_ONLY,
    transports: ['http'],
    rule: 'Log messages come only on the stream of the request that asked for them.',
    how: 'Listens for changes, calls the tools that log with a level, and looks at the streams of all log messages.',
    fix: 'Send a log message on the stream of its request, never on that of a subscription.',
    calls: true,
    isLast: true,
    async check(subject) {
      const { calls } = await subject.survey()
      const call = calls.find(({ reply }) => reply.before.some(({ messages }) => messages.some(isLog)))
      if (call === undefined) return unchecked('no tool logged')
      const session = await subject.session()
      const listen = session.requestOf('subscriptions/listen', { notifications: { toolsListChanged: true } })
      const from = subject.trace.mark
      await session.wire.send(JSON.stringify(listen), { headers: session.headersOf(listen) })
      await session.wire.wait(() => true, { from, ms: Math.min(subject.ms, 1_000) })
      await callTool(session, call.tool)
      const wrong = subject.wires
        .filter((wire) => wire instanceof HttpWire)
        .flatMap(({ received, posts }) =>
          [
            ...new Set(received.filter(({ messages }) => messages.some(isLog)).map(({ stream }) => stream)),
          ].map((stream) => ({ request: parsed(posts.get(stream) ?? '') })),
        )
        .find(({ request }) => member(request, 'params', '_meta', LOG_LEVEL) === undefined)
      return unless(
        wrong &&
          `a log message came on the stream of ${JSON.stringify(member(wrong.request, 'method')) ?? 'another request'}`,
      )
    },
  },
]

function isLog({ method }: Message): boolean {
  return method === 'notifications/message'
}

/** What can be completed: the arguments of prompts, and the variables of templates. */
async function refsOf(subject: ServerSubject): Promise<readonly Message[]> {
  const prompts = (await subject.list('prompts')).flatMap(({ name, arguments: list }) =>
    (Array.isArray(list) ? list : []).flatMap((one) => {
      const argument = member(one, 'name')
      return typeof argument === 'string'
        ? [{ ref: { type: 'ref/prompt', name }, argument: { name: argument, value: '' } }]
        : []
    }),
  )
  const templates = (await subject.list('templates')).flatMap(({ uriTemplate }) =>
    [...String(uriTemplate).matchAll(/\{[+#./;?&]?([^{}]{1,200})\}/g)]
      .flatMap(([, names = '']) => names.split(',').map((name) => name.replace(/(?:\*|:\d+)$/, '')))
      .map((name) => ({ ref: { type: 'ref/resource', uri: uriTemplate }, argument: { name, value: '' } })),
  )
  return [...prompts, ...templates].slice(0, MOST_REFS)
}

/** The results of those completions that have one. */
async function completionsOf(subject: ServerSubject, refs: readonly Message[]): Promise<readonly Message[]> {
  const session = await subject.shared()
  const results: Message[] = []
  for (const ref of refs) {
    const { result, message, error } = await session.request('completion/complete', ref)
    if (result !== undefined) results.push(result)
    // A server that does not know the method, or does not answer, completes nothing else either.
    if (message === undefined || error?.['code'] === -32_601) break
  }
  return results
}
