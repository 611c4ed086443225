import { parseUrl } from '../../protocol/url.ts'
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { inputFor } from '../generated-cases.ts'
import { httpCall } from '../http-call.ts'
import { isObject, member, parsed, type Message } from '../message.ts'
import { absent, D_ONLY, failed, unchecked, unless, type Rule, type Verdict } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { HttpReply } from '../wire.ts'

const PLACE = { level: 'must', revisions: D_ONLY, transports: ['http'] } as const
const VERSION = '2025-11'
const WORDS = ['async', 'stream', 'schema_ref']
/** The most time for a job, and between two questions about it. */
const JOB_MS = 10_000
const POLL_MS = 2_000

/** Checks of the envelopes of the 2025-11 developer specification, at `/gist` beside the path of MCP. */
export const GIST_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'V050',
    ...PLACE,
    rule: 'POST /gist answers a handshake with a connection descriptor.',
    how: `Sends mcp_version ${VERSION} and capabilities.`,
    fix: 'Answer with version (a month), client_id, server_id, transport ("http") and the capabilities that both sides have.',
    check: (subject) =>
      withGist(subject, async ({ descriptor }) => {
        const { version, client_id: client, server_id: server, transport, capabilities } = descriptor
        if (version !== VERSION) return failed(`the version is ${JSON.stringify(version)}`)
        if (client !== 'pierhead-validator') return failed(`the client_id is ${JSON.stringify(client)}`)
        if (typeof server !== 'string' || server === '') return failed('there is no server_id')
        if (transport !== 'http') return failed(`the transport is ${JSON.stringify(transport)}`)
        return unless(
          Array.isArray(capabilities) && capabilities.every((one) => WORDS.includes(String(one)))
            ? undefined
            : `the capabilities are ${JSON.stringify(capabilities)}, and ${WORDS.join(', ')} were offered`.slice(
                0,
                300,
              ),
        )
      }),
  },
  {
    id: 'V051',
    ...PLACE,
    rule: 'A call at /gist that fails is answered with the envelope of an error.',
    how: 'Calls a tool that does not exist.',
    fix: 'Answer with the request_id of the call, "status": "error", and an error with a code and a message.',
    check: (subject) =>
      withGist(subject, async ({ post }) => {
        const request_id = randomUUID()
        const answer = await post({ request_id, tool_id: 'validator_unknown', arguments: {}, mode: 'sync' })
        if (answer['request_id'] !== request_id)
          return failed(`the request_id is ${JSON.stringify(answer['request_id'])}`)
        if (answer['status'] !== 'error') return failed(`the status is ${JSON.stringify(answer['status'])}`)
        return unless(
          typeof member(answer, 'error', 'message') === 'string' ? undefined : 'the error has no message',
        )
      }),
  },
  {
    id: 'V052',
    ...PLACE,
    rule: 'A call at /gist is answered with the envelope of a result.',
    how: 'Calls the first tool.',
    fix: 'Answer with the request_id of the call, a status, the result, and metadata with duration_ms.',
    calls: true,
    check: (subject) =>
      withGist(subject, async ({ post }) => {
        const tool = (await subject.callable())[0]
        if (tool === undefined) return absent('the server has no tools')
        const { request_id, ...call } = callOf(tool, 'sync')
        const answer = await post({ request_id, ...call })
        if (answer['request_id'] !== request_id)
          return failed(`the request_id is ${JSON.stringify(answer['request_id'])}`)
        return doneWell(answer)
      }),
  },
  {
    id: 'V053',
    ...PLACE,
    rule: 'A job of /gist can be asked for at /jobs, and ends with its result.',
    how: 'Calls a tool that can be a task with the mode async, and asks for the job until it has ended.',
    fix: 'Answer with status "in_progress", a job_id and poll_after in seconds; answer GET /jobs/<job_id> with the result when it is there.',
    calls: true,
    check: (subject) =>
      withGist(subject, async ({ post, get }) => {
        const tool = (await subject.callable()).find((one) =>
          ['optional', 'required'].includes(String(member(one, 'execution', 'taskSupport'))),
        )
        if (tool === undefined) return absent('no tool can be a task')
        let answer = await post(callOf(tool, 'async'))
        const { job_id: id } = answer
        if (id === undefined) return doneWell(answer)
        if (typeof id !== 'string') return failed(`the job_id is ${JSON.stringify(id)}`)
        const until = performance.now() + JOB_MS
        while (answer['status'] === 'in_progress') {
          const seconds = answer['poll_after']
          if (typeof seconds !== 'number' || !(seconds >= 0))
            return failed(`poll_after is ${JSON.stringify(seconds)}`)
          if (performance.now() > until) return unchecked(`the job took longer than ${JOB_MS / 1000} s`)
          await wait(Math.min(seconds * 1000, POLL_MS))
          answer = await get(`jobs/${encodeURIComponent(id)}`)
        }
        return doneWell(answer)
      }),
  },
]

/** A way to the envelopes of a server. */
interface Gist {
  readonly descriptor: Message
  post(body: Message): Promise<Message>
  get(path: string): Promise<Message>
}

/** Greets the server at `/gist`, if there is one. */
async function withGist(subject: ServerSubject, check: (gist: Gist) => Promise<Verdict>): Promise<Verdict> {
  const { door, trace, ms } = subject
  const ask = async (method: string, path: string, body?: Message): Promise<HttpReply> => {
    const given = door.headersBeside ?? door.headers
    const headers = { ...given, accept: 'application/json', 'content-type': 'application/json' }
    const call = { method, headers, body: body && JSON.stringify(body), ms }
    return httpCall(parseUrl(path, door.url), call, trace)
  }
  const answerOf = async (method: string, path: string, body?: Message): Promise<Message> => {
    const answer = parsed((await ask(method, path, body)).body)
    if (!isObject(answer)) throw new Error(`/${path} does not answer in JSON`)
    return answer
  }
  const { status, body } = await ask('POST', 'gist', {
    mcp_version: VERSION,
    capabilities: WORDS,
    client_id: 'pierhead-validator',
  })
  const descriptor = parsed(body)
  // Something else may answer at this path, for instance MCP.
  if (status !== 200 || !isObject(descriptor) || descriptor['jsonrpc'] !== undefined)
    return absent('there is no /gist')
  return check({
    descriptor,
    post: (envelope) => answerOf('POST', 'gist', envelope),
    get: (path) => answerOf('GET', path),
  })
}

function callOf({ name, inputSchema }: Message, mode: 'sync' | 'async'): Message {
  const input = inputFor(isObject(inputSchema) ? inputSchema : {})
  return { request_id: randomUUID(), tool_id: name, arguments: input, mode }
}

/** Whether an envelope says how a call ended. */
function doneWell(answer: Message): Verdict {
  const { status, result, error } = answer
  if (status !== 'success' && status !== 'error') return failed(`the status is ${JSON.stringify(status)}`)
  if (result === undefined && (status === 'success' || error === undefined))
    return failed('there is no result')
  const duration = member(answer, 'metadata', 'duration_ms')
  return unless(
    typeof duration === 'number' ? undefined : `metadata.duration_ms is ${JSON.stringify(duration)}`,
  )
}
