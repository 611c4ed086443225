import { isObject, member, type Message } from '../message.ts'
import {
  absent,
  E_ONLY,
  failed,
  passed,
  TRANSPORTS,
  unchecked,
  unless,
  type Rule,
  type Verdict,
} from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import { CLIENT_CAPABILITIES, CLIENT_INFO, PROTOCOL_VERSION, type Reply } from '../session.ts'
import { requestTool } from '../tool-call.ts'
import { wrongInGreeting } from './greeting.ts'
import { initializeMessage, refusal, textOf, UNKNOWN_VERSION } from './refusal.ts'
import { allMessages, isModernResult } from './json-rpc.ts'

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'

/** Rules about the versions and capabilities in each request of 2026-07-28. */
export const ENVELOPE_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R044',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A request without the protocol version or the capabilities of the client is answered with -32602, and status 400 over HTTP.',
    how: 'Sends server/discover without each of the two members of _meta, and with another type.',
    fix: 'Check both members of _meta in every request.',
    async check(subject) {
      for (const key of [PROTOCOL_VERSION, CLIENT_CAPABILITIES]) {
        const reply = await (
          await subject.shared()
        ).request('server/discover', undefined, { meta: { [key]: undefined } })
        const verdict = refusal(subject, reply, {
          code: -32_602,
          status: 400,
          what: `a request without ${key}`,
        })
        if (verdict.is !== 'passed') return verdict
      }
      const session = await subject.shared()
      const list = await session.request('server/discover', undefined, {
        meta: { [CLIENT_CAPABILITIES]: [] },
      })
      const verdict = refusal(subject, list, {
        code: -32_602,
        status: 400,
        what: 'a request with a list as the capabilities of the client',
      })
      if (verdict.is !== 'passed') return verdict
      const number = await session.request('server/discover', undefined, { meta: { [PROTOCOL_VERSION]: 17 } })
      return unless(number.result && 'a request with a number as its protocol version is served')
    },
  },
  {
    id: 'R045',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A request without clientInfo is served.',
    how: 'Sends server/discover without clientInfo.',
    fix: 'Treat clientInfo as optional.',
    async check(subject) {
      const { result, error, problem } = await (
        await subject.shared()
      ).request('server/discover', undefined, { meta: { [CLIENT_INFO]: undefined } })
      return unless(
        result !== undefined
          ? undefined
          : (problem ?? `a request without clientInfo is refused: ${textOf(error)}`),
      )
    },
  },
  {
    id: 'R046',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'An unsupported version is answered with -32022, with data.supported and data.requested.',
    how: `Sends a request with the version ${UNKNOWN_VERSION}.`,
    fix: 'Answer with -32022 and data: { supported: [...], requested: "…" }.',
    async check(subject) {
      const reply = await unknownVersion(subject)
      const { error } = reply
      if (error === undefined) return failed(reply.problem ?? `the version ${UNKNOWN_VERSION} is accepted`)
      if (error['code'] !== -32_022)
        return failed(`the version ${UNKNOWN_VERSION} is answered with code ${String(error['code'])}`)
      const supported = member(error, 'data', 'supported')
      if (!Array.isArray(supported) || supported.length === 0)
        return failed('the error has no data.supported')
      return unless(
        member(error, 'data', 'requested') === UNKNOWN_VERSION
          ? undefined
          : 'the error has no data.requested',
      )
    },
  },
  {
    id: 'R048',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'server/discover returns the supported versions and the true capabilities.',
    how: 'Sends server/discover, and uses each capability that it names.',
    fix: 'Return supportedVersions with this revision, and declare what you serve.',
    async check(subject) {
      const { result, error, problem } = await (await subject.silent()).greet()
      if (result === undefined)
        return failed(problem ?? `server/discover is answered with an error: ${textOf(error)}`)
      const versions = result['supportedVersions']
      if (!Array.isArray(versions) || !versions.includes(subject.revision))
        return failed(`supportedVersions is ${JSON.stringify(versions)}`)
      if (!isObject(result['capabilities'])) return failed('there are no capabilities')
      const [wrong] = wrongInGreeting(result)
      if (wrong !== undefined) return failed(`server/discover returns no proper ${wrong}`)
      return untrueCapability(subject, result['capabilities'])
    },
  },
  {
    id: 'R049',
    level: 'should',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'Each result has serverInfo in its _meta.',
    how: 'Sends server/discover and the lists, and looks at their _meta.',
    fix: 'Add _meta["io.modelcontextprotocol/serverInfo"] with a name and a version to each result.',
    isLast: true,
    async check(subject) {
      await subject.survey()
      const results = allMessages(subject).flatMap(({ message }) =>
        isModernResult(message['result']) ? [message['result']] : [],
      )
      if (results.length === 0) return unchecked('the server sent no result')
      const wrong = results.find(
        (result) =>
          typeof member(result, '_meta', SERVER_INFO, 'name') !== 'string' ||
          typeof member(result, '_meta', SERVER_INFO, 'version') !== 'string',
      )
      return unless(wrong && `a result has no proper serverInfo: ${JSON.stringify(wrong).slice(0, 150)}`)
    },
  },
  {
    id: 'R050',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A server uses no version or capability of an earlier request.',
    how: 'Sends a complete request, and then one without _meta on the same connection.',
    fix: 'Read the version and the capabilities from each request alone.',
    async check(subject) {
      const session = await subject.session()
      const reply = await session.request('server/discover', undefined, {
        meta: { [PROTOCOL_VERSION]: undefined, [CLIENT_CAPABILITIES]: undefined, [CLIENT_INFO]: undefined },
      })
      return unless(
        reply.result === undefined ? undefined : 'a request without _meta is served after a complete one',
      )
    },
  },
  {
    id: 'R051',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A tool that needs a capability which the client did not declare is answered with -32021 and requiredCapabilities, and status 400 over HTTP.',
    how: 'Calls the tools that asked questions, without declaring any capability.',
    fix: 'Answer with -32021 and data: { requiredCapabilities: { elicitation: {} } }.',
    calls: true,
    async check(subject) {
      const { calls } = await subject.survey()
      const asking = calls.filter(({ asked }) => asked.length > 0)
      if (asking.length === 0) return unchecked('no tool asked a question')
      for (const { tool, input } of asking) {
        const reply = await requestTool(await subject.shared(), [tool, input], { capabilities: {} })
        if (member(reply.result, 'resultType') === 'input_required')
          return failed(`the tool ${String(tool['name'])} asks a client that declared no capability`)
        if (reply.error?.['code'] !== -32_021) continue
        const what = `a call of ${String(tool['name'])} without capabilities`
        const verdict = refusal(subject, reply, { code: -32_021, status: 400, what })
        if (verdict.is !== 'passed') return verdict
        if (!isObject(member(reply.error, 'data', 'requiredCapabilities')))
          return failed('the error has no data.requiredCapabilities')
      }
      return passed
    },
  },
  {
    id: 'R052',
    level: 'should',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A server without older revisions names its versions in the error for initialize.',
    how: 'Sends initialize of 2025-11-25.',
    fix: 'Answer initialize with -32022 and data.supported.',
    async check(subject) {
      const session = await subject.silent()
      const { result, error, problem } = await session.exchange(
        initializeMessage(session.newId(), '2025-11-25'),
        {
          headers: { 'mcp-protocol-version': undefined, 'mcp-method': undefined },
        },
      )
      if (result !== undefined) return absent('the server supports older revisions')
      if (error === undefined) return failed(problem ?? 'initialize gets no response')
      const supported = member(error, 'data', 'supported')
      return unless(
        Array.isArray(supported)
          ? undefined
          : `initialize is refused without naming a version: ${textOf(error)}`,
      )
    },
  },
  {
    id: 'R053',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'Methods that this revision removed are unknown: -32601.',
    how: 'Sends ping, logging/setLevel, resources/subscribe and resources/unsubscribe with the members of _meta.',
    fix: 'Answer requests of this revision for removed methods with -32601.',
    async check(subject) {
      const session = await subject.shared()
      for (const [method, params] of [
        ['ping', {}],
        ['logging/setLevel', { level: 'info' }],
        ['resources/subscribe', { uri: 'test://none' }],
        ['resources/unsubscribe', { uri: 'test://none' }],
      ] as const) {
        const { error, problem } = await session.request(method, params)
        if (error?.['code'] !== -32_601)
          return failed(
            problem ??
              `${method} is answered with ${error === undefined ? 'a result' : `code ${String(error['code'])}`}`,
          )
      }
      return passed
    },
  },
]

/** Asks with a version that no server supports. */
export async function unknownVersion(subject: ServerSubject): Promise<Reply> {
  const capabilities = await subject.capabilities()
  const listed = ['tools', 'resources', 'prompts'].find((kind) => Object.hasOwn(capabilities, kind))
  // Some servers answer server/discover whatever the version is, since clients look for versions with it.
  const method = listed === undefined ? 'server/discover' : `${listed}/list`
  return (await subject.shared()).request(method, undefined, {
    meta: { [PROTOCOL_VERSION]: UNKNOWN_VERSION },
    headers: { 'mcp-protocol-version': UNKNOWN_VERSION },
  })
}

/** Uses each capability that a server declares. */
async function untrueCapability(subject: ServerSubject, capabilities: Message): Promise<Verdict> {
  const session = await subject.shared()
  for (const [capability, method] of [
    ['tools', 'tools/list'],
    ['resources', 'resources/list'],
    ['prompts', 'prompts/list'],
  ] as const) {
    const { result, error } = await session.request(method)
    const listed = member(result, capability)
    const isOffered = Array.isArray(listed) && listed.length > 0
    const isDeclared = Object.hasOwn(capabilities, capability)
    if (isDeclared && result === undefined)
      return failed(`the server declares ${capability}, and ${method} fails: ${textOf(error)}`)
    if (!isDeclared && isOffered)
      return failed(`the server lists ${capability}, and does not declare ${capability}`)
  }
  return passed
}
