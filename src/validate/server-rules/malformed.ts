import { member, type Message } from '../message.ts'
import { absent, ALL, B_TO_E, failed, passed, TRANSPORTS, unchecked, type Rule } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { Reply } from '../session.ts'
import { requestTool } from '../tool-call.ts'

/** How long to wait for a result that must not come. */
const PATIENCE_MS = 1_000

/** Changes that make a good request a text that is no message. */
const CHANGES: readonly (readonly [string, Message])[] = [
  ['without "jsonrpc"', { jsonrpc: undefined }],
  ['with "jsonrpc": "1.0"', { jsonrpc: '1.0' }],
  ['with null as its id', { id: null }],
  ['with true as its id', { id: true }],
  ['with an object as its id', { id: { value: 1 } }],
  ['with a list as its params', { params: [] }],
]

/** Parameters that lack something or have it in another type, and the capability that each method belongs to. */
const PARAMS: readonly (readonly [string, string, string, Message])[] = [
  ['tools', 'tools/call', 'without a name', {}],
  ['prompts', 'prompts/get', 'without a name', {}],
  ['resources', 'resources/read', 'without a uri', {}],
  [
    'completions',
    'completion/complete',
    'with a ref of an unknown type',
    { ref: { type: 'ref/validator', name: 'x' }, argument: { name: 'x', value: '' } },
  ],
  ['completions', 'completion/complete', 'without a ref', { argument: { name: 'x', value: '' } }],
  ['completions', 'completion/complete', 'without an argument', { ref: { type: 'ref/prompt', name: 'x' } }],
]

/** Our own checks of requests that are not as they should be. */
export const MALFORMED_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'V017',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A request that is not a valid message gets no result (more forms than in R010).',
    how: 'Sends requests without "jsonrpc", of JSON-RPC 1.0, with ids that are neither texts nor integers, and with a list as params.',
    fix: 'Check "jsonrpc", the type of the id and that params is an object; answer with -32600.',
    async check(subject) {
      const method = subject.isModern ? 'server/discover' : 'ping'
      for (const [what, change] of CHANGES) {
        const session = await subject.session()
        const good = session.requestOf(method, undefined)
        const { wire } = session
        const from = wire.trace.mark
        await wire.send(JSON.stringify({ ...good, ...change }), { headers: session.headersOf(good) })
        const answer = await session.waitBriefly(({ messages }) => messages.some(isAnswer), from)
        const served = answer?.messages.find((one) => Object.hasOwn(one, 'result'))
        if (served !== undefined && !isFence(served, good['id'], change))
          return failed(`a request ${what} is answered with a result`)
      }
      return passed
    },
  },
  {
    id: 'V018',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'Parameters that lack what the method needs are answered with error -32602 (more methods than in R012).',
    how: 'Sends tools/call, prompts/get and resources/read without a name or uri, and completion/complete with a wrong ref.',
    fix: 'Check the parameters of each method; answer with -32602 "Invalid params".',
    async check(subject) {
      const capabilities = await subject.capabilities()
      const session = await subject.shared()
      for (const [capability, method, what, params] of PARAMS) {
        if (!Object.hasOwn(capabilities, capability)) continue
        const found = refusedWrongly(subject, await session.request(method, params), `${method} ${what}`)
        if (found !== undefined) return failed(found)
      }
      const prompt = (await subject.list('prompts')).find(
        ({ arguments: list }) => Array.isArray(list) && list.length > 0,
      )
      if (prompt === undefined) return passed
      const names = (prompt['arguments'] as readonly unknown[]).map((one) => String(member(one, 'name')))
      const params = { name: prompt['name'], arguments: Object.fromEntries(names.map((name) => [name, 17])) }
      const reply = await session.request('prompts/get', params)
      return reply.result === undefined
        ? passed
        : failed('prompts/get with numbers as arguments, which are texts, is answered with a result')
    },
  },
  {
    id: 'V019',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'The arguments of a call are an object; others are answered with an error or a result with isError.',
    how: 'Calls the quickest tool with a list and with a text as its arguments.',
    fix: 'Check that arguments is an object before the tool runs.',
    calls: true,
    async check(subject) {
      const { calls } = await subject.survey()
      const [call] = calls
        .filter(
          ({ reply: { result }, asked }) =>
            result !== undefined && result['isError'] !== true && asked.length === 0,
        )
        .toSorted((one, other) => one.ms - other.ms)
      if (call === undefined)
        return calls.length === 0 ? absent('the server has no tools') : unchecked('no call succeeded')
      const session = await subject.shared()
      for (const [what, input] of [
        ['a list', []],
        ['a text', 'text'],
      ] as const) {
        const { result } = await requestTool(session, [call.tool, input as never], { ms: PATIENCE_MS })
        if (result !== undefined && result['isError'] !== true)
          return failed(`a call of ${String(call.tool['name'])} with ${what} as its arguments succeeds`)
      }
      return passed
    },
  },
  {
    id: 'V181',
    level: 'should',
    revisions: B_TO_E,
    transports: TRANSPORTS,
    rule: 'A completion for a prompt that does not exist is answered with error -32602.',
    how: 'Asks for a completion of an argument of a made-up prompt.',
    fix: 'Answer with -32602 if you do not know the prompt or the template of a ref.',
    async check(subject) {
      if (!Object.hasOwn(await subject.capabilities(), 'completions'))
        return absent('the server does not complete')
      const reply = await (
        await subject.shared()
      ).request('completion/complete', {
        ref: { type: 'ref/prompt', name: 'validator-unknown' },
        argument: { name: 'validator', value: '' },
      })
      const found = refusedWrongly(subject, reply, 'a completion for an unknown prompt')
      return found === undefined ? passed : failed(found)
    },
  },
]

function isAnswer(message: Message): boolean {
  return Object.hasOwn(message, 'result') || Object.hasOwn(message, 'error')
}

/** Whether a result belongs to a later request, which shows that nothing else comes. */
function isFence(answer: Message, id: unknown, change: Message): boolean {
  const wanted = Object.hasOwn(change, 'id') ? change['id'] : id
  return JSON.stringify(answer['id']) !== JSON.stringify(wanted)
}

/** What is wrong with the refusal of wrong parameters; undefined if it is right. */
function refusedWrongly(
  { isModern, transport }: ServerSubject,
  { error, problem }: Reply,
  what: string,
): string | undefined {
  if (error === undefined)
    return problem === undefined ? `${what} is answered with a result` : `${what}: ${problem}`
  // A header that does not match the body is another error at 2026-07-28.
  const codes = isModern && transport === 'http' ? [-32_602, -32_020] : [-32_602]
  return codes.includes(Number(error['code']))
    ? undefined
    : `${what} is answered with code ${String(error['code'])}`
}
