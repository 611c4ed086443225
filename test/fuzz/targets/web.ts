import { REVISIONS } from '../../../src/protocol/revisions.ts'
import { createEventReader } from '../../../src/wire/sse-reader.ts'
import { watched, type Watched } from '../app.ts'
import { claim, target, type Target } from '../fuzz.ts'
import { anyRequest, type HttpRequest } from '../http-requests.ts'
import { initialize } from '../requests.ts'
import { expectedFor, keyOf, readReply, type Reply } from '../replies.ts'

const URL = 'http://localhost/mcp'
const STATUSES: readonly number[] = [
  200, 202, 204, 400, 401, 403, 404, 405, 406, 409, 413, 415, 429, 431, 500, 501, 503,
]

let served: Watched
let handle: (request: Request) => Promise<Response>
const sessions = new Map<string, string>()

/** Whatever an HTTP request says, its reply is one of HTTP and of JSON-RPC, under the right id. */
export const webTarget: Target = target<HttpRequest>({
  name: 'web',
  share: 0.5,
  async start() {
    served = watched()
    handle = served.app.fetchWith({ hosts: ['loopback'] })
    sessions.clear()
  },
  make: (random) => anyRequest(random),
  async check(input) {
    served.faults.length = 0
    if (sessions.size === 0) await openAll()
    const request = toRequest(input)
    if (request === undefined) return
    const response = await handle(request)
    claim(STATUSES.includes(response.status), `the status is ${response.status}`)
    const replies = await repliesOf(response, input)
    const expected = expectedFor(input.body, input.headers['mcp-session-id'] === '2025-03-26')
    if (input.verb === 'POST') checkReplies(response.status, replies, expected.ids)
    claim(served.faults.length === 0, `a fault in the server: ${served.faults[0]}`)
    if (input.verb === 'DELETE') sessions.clear()
  },
  async end() {
    await served.app.close()
  },
})

function checkReplies(status: number, replies: readonly Reply[], owed: readonly string[]): void {
  const left = [...owed]
  for (const { id, error } of replies) {
    const at = id === undefined ? -1 : left.indexOf(keyOf(id))
    claim(
      at >= 0 || (id === undefined && error !== undefined),
      `a reply nobody asked for: ${JSON.stringify(replies).slice(0, 400)}`,
    )
    if (at >= 0) left.splice(at, 1)
  }
  const turnedAway = replies.length === 1 && replies[0]?.id === undefined
  claim(
    left.length === 0 || turnedAway || status === 202,
    `no reply for ${left.join()} with status ${status}`,
  )
  claim(status < 400 || replies.length > 0, `the status ${status} is not explained`)
}

async function openAll(): Promise<void> {
  for (const revision of REVISIONS.slice(0, -1)) {
    const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
    const response = await handle(
      new Request(URL, { method: 'POST', headers, body: JSON.stringify(initialize(revision)) }),
    )
    await response.body?.cancel()
    sessions.set(revision, response.headers.get('mcp-session-id') ?? '')
  }
}

/** Undefined when the runtime would not let such a request be sent. */
function toRequest({ verb, headers, body }: HttpRequest): Request | undefined {
  const session = headers['mcp-session-id']
  const real = session === undefined ? {} : { 'mcp-session-id': sessions.get(session) ?? session }
  const hasBody = verb !== 'GET' && verb !== 'HEAD' && body !== ''
  try {
    return new Request(URL, { method: verb, headers: { ...headers, ...real }, ...(hasBody && { body }) })
  } catch {
    return undefined
  }
}

/** The messages of a reply; a stream is read until it has what was asked for, or nothing more comes at once. */
async function repliesOf(response: Response, { verb, body }: HttpRequest): Promise<readonly Reply[]> {
  const type = response.headers.get('content-type')
  if (type === 'application/json')
    return readReply(await response.text()).filter(({ method }) => method === undefined)
  if (type !== 'text/event-stream') {
    claim((await response.text()) === '', `a body of type ${type}`)
    return []
  }
  const found: Reply[] = []
  const reader = createEventReader({
    maxBytes: 1e8,
    onEvent: ({ data }) => void (data === '' || found.push(...readReply(data))),
    onOversize: () => undefined,
  })
  const source = response.body!.getReader()
  const waits = verb === 'GET' || /ask|listen|\\u/.test(body)
  for (;;) {
    let timer: NodeJS.Timeout | undefined
    const idle = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, waits ? 1 : 3000, undefined)
    })
    const step = await Promise.race([source.read(), idle])
    clearTimeout(timer)
    if (step === undefined || step.done) break
    reader.push(step.value)
  }
  await source.cancel()
  const answers = found.filter(({ method }) => method === undefined)
  if (answers.length === 0 && waits) return [{ error: { code: 0, message: 'still waiting' } }]
  return answers
}
