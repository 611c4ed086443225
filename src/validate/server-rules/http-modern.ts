import { encodedHeader } from '../header-value.ts'
import { isRequest, isResponse, member, type Message } from '../message.ts'
import { absent, E_ONLY, failed, passed, unchecked, unless, type Rule, type Transport } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { Reply } from '../session.ts'
import { HttpWire } from '../wire-http.ts'
import { initializeMessage, refusal, UNKNOWN_VERSION } from './refusal.ts'
import { unknownVersion } from './envelope.ts'
import { acceptedEmpty } from './http-requests.ts'
import { wasEnded } from './http-streams.ts'

const HTTP: readonly Transport[] = ['http']

/** Headers that do not fit server/discover, and another code that is right for them. */
const WRONG_HEADERS: readonly (readonly [
  string,
  Readonly<{ [name: string]: string | undefined }>,
  number?,
])[] = [
  ['a request without mcp-protocol-version', { 'mcp-protocol-version': undefined }],
  ['a request without mcp-method', { 'mcp-method': undefined }],
  ['a request with another mcp-method', { 'mcp-method': 'tools/list' }],
  // A server may look first whether it supports the version.
  ['a request with another mcp-protocol-version', { 'mcp-protocol-version': UNKNOWN_VERSION }, -32_022],
]

const NAMED = [
  ['tools', 'tools/call', 'name'],
  ['prompts', 'prompts/get', 'name'],
  ['resources', 'resources/read', 'uri'],
] as const

/** Rules about HTTP at 2026-07-28. */
export const HTTP_MODERN_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R114',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'A request whose standard headers are missing or differ from its body is answered with 400 and -32020.',
    how: 'Sends server/discover without each header, and with another method or version in the header; then asks for a tool, a prompt and a resource that do not exist, each without its name in the header and with another one.',
    fix: 'Compare MCP-Protocol-Version, Mcp-Method and Mcp-Name with the body, and refuse what differs.',
    async check(subject) {
      const session = await subject.shared()
      for (const [what, headers, or] of WRONG_HEADERS) {
        const reply = await session.request('server/discover', undefined, { headers })
        const verdict = refusal(subject, reply, { code: -32_020, status: 400, what, or })
        if (verdict.is !== 'passed') return verdict
      }
      for (const [method, key] of namedMethods(await subject.capabilities()))
        for (const [what, name] of [
          [`${method} without mcp-name`, undefined],
          [`${method} with another mcp-name`, 'validator://other'],
        ] as const) {
          const params = { [key]: 'validator://unknown' }
          const reply = await session.request(method, params, { headers: { 'mcp-name': name } })
          const verdict = refusal(subject, reply, { code: -32_020, status: 400, what })
          if (verdict.is !== 'passed') return verdict
        }
      return passed
    },
  },
  {
    id: 'R115',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'Names of headers may have any case; values have one case, and spaces around them do not count.',
    how: 'Sends server/discover with MCP-METHOD in capitals and spaces around its value, and with SERVER/DISCOVER as the value.',
    fix: 'Compare names without regard to case, and values exactly, after removing spaces around them.',
    async check(subject) {
      const session = await subject.shared()
      const spaced = await session.request('server/discover', undefined, {
        headers: { 'mcp-method': undefined, 'MCP-METHOD': ' server/discover ' },
      })
      if (spaced.result === undefined)
        return failed('a header in capitals with spaces around its value is refused')
      const { result } = await session.request('server/discover', undefined, {
        headers: { 'mcp-method': 'SERVER/DISCOVER' },
      })
      return unless(result === undefined ? undefined : 'the value of Mcp-Method is accepted in capitals')
    },
  },
  {
    id: 'R116',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'Values of headers that are not plain are decoded from base64 before they are compared.',
    how: 'Reads a resource, gets a prompt and calls a tool that do not exist, with their names in base64.',
    fix: 'Decode =?base64?…?= in Mcp-Name and Mcp-Param headers.',
    async check(subject) {
      const methods = namedMethods(await subject.capabilities())
      if (methods.length === 0) return absent('the server has no tools, prompts or resources')
      const name = 'validator-Ünknown'
      const session = await subject.shared()
      for (const [method, key] of methods) {
        const headers = { 'mcp-name': encodedHeader(name) }
        const { message, error, problem } = await session.request(method, { [key]: name }, { headers })
        if (message === undefined) return failed(problem ?? `${method} is not answered`)
        // Other rules are about how unknown names are answered.
        if (error?.['code'] === -32_020)
          return failed(
            `a name in base64 is not decoded for ${method}: the server says that the header differs`,
          )
      }
      return passed
    },
  },
  {
    id: 'R120',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'A call whose Mcp-Param headers are missing or differ from its arguments is answered with 400 and -32020.',
    how: 'Calls a tool that declares x-mcp-header, with an argument and another value in the header.',
    fix: 'Compare each Mcp-Param header with its argument.',
    calls: true,
    async check(subject) {
      const found = (await subject.callable()).flatMap((tool) => mirroredOf(tool))[0]
      if (found === undefined) return absent('no tool declares x-mcp-header')
      const { tool, key, header } = found
      const params = { name: tool['name'], arguments: { [key]: 'one' } }
      const session = await subject.shared()
      const differing = await session.request('tools/call', params, {
        headers: { [`mcp-param-${header}`]: 'two' },
      })
      const verdict = refusal(subject, differing, {
        code: -32_020,
        status: 400,
        what: `another value in Mcp-Param-${header}`,
      })
      if (verdict.is !== 'passed') return verdict
      const missing = await session.request('tools/call', params)
      return refusal(subject, missing, {
        code: -32_020,
        status: 400,
        what: `a call without Mcp-Param-${header}`,
      })
    },
  },
  {
    id: 'R122',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'An unknown method is answered with 404 and -32601.',
    how: 'Sends a request for a method that does not exist.',
    fix: 'Answer with status 404 and error -32601.',
    check: async (subject) =>
      refusal(subject, await (await subject.shared()).request('validator/unknown'), {
        code: -32_601,
        status: 404,
        what: 'an unknown method',
      }),
  },
  {
    id: 'R123',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'An unsupported version is answered with 400 and -32022.',
    how: 'Asks for a list, or sends server/discover if there is none, with a version that no server supports.',
    fix: 'Answer with status 400 and error -32022.',
    check: async (subject) =>
      refusal(subject, await unknownVersion(subject), {
        code: -32_022,
        status: 400,
        what: 'an unsupported version',
      }),
  },
  {
    id: 'R124',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'An accepted notification is answered with 202 without a body.',
    how: 'Sends notifications/cancelled.',
    fix: 'Answer with status 202 and no body.',
    check: async (subject) =>
      acceptedEmpty(await (await subject.shared()).notify('notifications/cancelled', { requestId: 'none' })),
  },
  {
    id: 'R125',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'A stream of events carries only messages of its request, and ends with the response.',
    how: 'Looks at the streams of all calls.',
    fix: 'Send the response last, and nothing of other requests on its stream.',
    calls: true,
    isLast: true,
    async check(subject) {
      const { calls } = await subject.survey()
      const streams = calls.filter(({ reply }) => reply.http?.isStream)
      if (streams.length === 0) return unchecked('no call was answered with a stream')
      for (const { reply, token } of streams) {
        // A tool may take longer than we wait; its stream is then still open.
        if (reply.message === undefined && !(await wasEnded(reply.http))) continue
        const messages = onStream(subject, reply)
        const last = messages.at(-1)
        if (last === undefined || !isResponse(last)) return failed('a stream does not end with the response')
        const foreign = messages.find(
          (message) =>
            isRequest(message) ||
            (isResponse(message) && message['id'] !== reply.id) ||
            (message['method'] === 'notifications/progress' &&
              member(message, 'params', 'progressToken') !== token),
        )
        if (foreign !== undefined) return failed(`a stream carries ${JSON.stringify(foreign).slice(0, 150)}`)
      }
      return passed
    },
  },
  {
    id: 'R126',
    level: 'should',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'A stream of events is closed after the response, and has X-Accel-Buffering: no.',
    how: 'Looks at the streams of all calls.',
    fix: 'End the reply after the response, and add the header, so that proxies pass events on at once.',
    calls: true,
    async check(subject) {
      const { calls } = await subject.survey()
      const answered = calls.filter(({ reply }) => reply.message !== undefined)
      const streams = answered.flatMap(({ reply }) => (reply.http?.isStream ? [reply.http] : []))
      if (streams.length === 0) return unchecked('no call was answered with a stream')
      if (streams.some(({ headers }) => headers['x-accel-buffering'] !== 'no'))
        return failed('a stream has no X-Accel-Buffering: no')
      const ended = await Promise.race([
        Promise.all(streams.map((one) => one.ended)).then(() => true),
        new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 500).unref()),
      ])
      return unless(ended ? undefined : 'a stream stays open after the response')
    },
  },
  {
    id: 'R129',
    level: 'should',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'Mcp-Session-Id and Last-Event-ID are ignored; a server without older revisions answers GET and DELETE with 405.',
    how: 'Sends server/discover with both headers; if initialize of 2025-11-25 is refused, also GET and DELETE.',
    fix: 'Do not look at these headers at this revision, and answer other methods than POST with 405.',
    async check(subject) {
      const { result, problem, http } = await (
        await subject.shared()
      ).request('server/discover', undefined, {
        headers: { 'mcp-session-id': 'validator', 'last-event-id': '1' },
      })
      if (result === undefined)
        return failed(problem ?? `a request with Mcp-Session-Id is answered with status ${http?.status ?? 0}`)
      const session = await subject.silent()
      const { wire } = session
      const old = await session.exchange(initializeMessage(session.newId(), '2025-11-25'), {
        headers: { 'mcp-protocol-version': undefined, 'mcp-method': undefined },
      })
      // Only an error shows that there are no older revisions.
      if (old.error === undefined || !(wire instanceof HttpWire)) return passed
      for (const method of ['GET', 'DELETE']) {
        const { status, close } = await wire.call(method, { accept: 'text/event-stream' })
        close()
        if (status !== 405) return failed(`${method} is answered with status ${status} instead of 405`)
      }
      return passed
    },
  },
  {
    id: 'R130',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'A server never gives out or returns a session id.',
    how: 'Looks at the reply to server/discover, without and with Mcp-Session-Id.',
    fix: 'Send no Mcp-Session-Id at this revision.',
    async check(subject) {
      const session = await subject.shared()
      for (const headers of [{}, { 'mcp-session-id': 'validator' }]) {
        const { http } = await session.request('server/discover', undefined, { headers })
        if (http?.headers['mcp-session-id'] !== undefined)
          return failed('a reply has the header Mcp-Session-Id')
      }
      return passed
    },
  },
  {
    id: 'R131',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'A request of a web page of others is answered with 403.',
    how: 'Sends server/discover with the Origin http://evil.example, and asks for a list with it if the server has one.',
    fix: 'Refuse requests whose Origin you do not know with status 403.',
    async check(subject) {
      const session = await subject.shared()
      const capabilities = await subject.capabilities()
      const lists = ['tools', 'resources', 'prompts'].filter((kind) => Object.hasOwn(capabilities, kind))
      for (const method of ['server/discover', ...lists.slice(0, 1).map((kind) => `${kind}/list`)]) {
        const { http, problem } = await session.request(method, undefined, {
          headers: { origin: 'http://evil.example' },
        })
        if (http === undefined) return unchecked(problem ?? 'there is no reply')
        if (http.status !== 403)
          return failed(`${method} with a foreign Origin is answered with status ${http.status}`)
      }
      return passed
    },
  },
]

/** The methods whose name a header repeats, each with the parameter that has the name. */
function namedMethods(capabilities: Message): readonly (readonly [string, string])[] {
  return NAMED.filter(([capability]) => Object.hasOwn(capabilities, capability)).map(([, method, key]) => [
    method,
    key,
  ])
}

/** The arguments of a tool that headers repeat. */
function mirroredOf(
  tool: Message,
): readonly { readonly tool: Message; readonly key: string; readonly header: string }[] {
  const properties = member(tool, 'inputSchema', 'properties')
  if (typeof properties !== 'object' || properties === null) return []
  return Object.entries(properties).flatMap(([key, schema]) => {
    const header = member(schema, 'x-mcp-header')
    return typeof header === 'string' && member(schema, 'type') === 'string' ? [{ tool, key, header }] : []
  })
}

/** What came on the stream of a reply. */
function onStream({ wires }: ServerSubject, { http }: Reply): readonly Message[] {
  return wires
    .filter((wire) => wire instanceof HttpWire)
    .flatMap((wire) => wire.received.filter(({ stream }) => stream === http?.stream))
    .flatMap(({ messages }) => messages)
}
