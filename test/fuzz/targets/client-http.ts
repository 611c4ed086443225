import { createClient } from '../../../src/client.ts'
import { REVISIONS, type Revision } from '../../../src/protocol/revisions.ts'
import { toEvent } from '../../../src/wire/sse.ts'
import { target, type Target } from '../fuzz.ts'
import { ANSWERS, anyAnswers, greeting, USES, using, withId } from '../hostile.ts'
import { mutateText } from '../mutate.ts'
import type { Random } from '../random.ts'
import { anyText } from '../values.ts'

interface Input {
  readonly revision: Revision
  readonly method: string
  readonly replies: readonly HttpReply[]
}

interface HttpReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const LIMITS = { reconnectFirstMs: 1, reconnectMaxMs: 2, reconnectFloorMs: 1 }

/** Whatever a server at a URL replies, a client ends what it was asked to do with a result or an error of its own. */
export const clientHttpTarget: Target = target<Input>({
  name: 'client-http',
  share: 0.3,
  make(random) {
    const revision = random.pick(REVISIONS)
    const method = random.pick([...USES.keys()])
    return {
      revision,
      method,
      replies: Array.from({ length: 1 + random.few(4) }, () => anyReply(method, revision, random)),
    }
  },
  async check({ revision, method, replies }) {
    const client = createClient('http://localhost/mcp', {
      revision,
      answers: ANSWERS,
      timeout: '2s',
      total: '3s',
      limits: LIMITS,
      fetch: hostileFetch(revision, replies),
    })
    await using(client, method)
  },
  *shrink(input) {
    for (const [at] of input.replies.entries()) yield { ...input, replies: input.replies.toSpliced(at, 1) }
  },
})

function anyReply(method: string, revision: Revision, random: Random): HttpReply {
  const texts = anyAnswers(method, revision, random)
  const events = random.oneIn(2)
  const stream = texts
    .map((data) =>
      toEvent({
        data,
        ...(random.oneIn(3) && { id: anyText(random).replace(/[\r\n\0]/g, '') }),
        ...(random.oneIn(6) && { retry: random.below(3) }),
      }),
    )
    .join('')
  const body = events ? stream : (texts[0] ?? '')
  const type = random.oneIn(8)
    ? random.pick(['text/html', '', 'application/json; charset=x', 'text/event-stream;x'])
    : events
      ? 'text/event-stream'
      : 'application/json'
  return {
    status: random.oneIn(5)
      ? random.pick([201, 202, 204, 301, 400, 401, 403, 404, 405, 409, 429, 500, 503, 599])
      : 200,
    headers: {
      ...(type !== '' && { 'content-type': type }),
      ...(random.oneIn(8) && {
        'retry-after': random.pick(['0', 'x', '-1', 'Thu, 01 Jan 1970 00:00:00 GMT']),
      }),
      ...(random.oneIn(10) && { location: '/elsewhere', 'mcp-session-id': 'other' }),
    },
    body: random.oneIn(6) ? mutateText(body, random) : body,
  }
}

/** Replies what it was told to reply, and after that no to everything. */
function hostileFetch(revision: Revision, replies: readonly HttpReply[]): typeof fetch {
  let next = 0
  return async (_, init) => {
    const { id, method = '' } = idOf(init?.body)
    const result = greeting(method, revision)
    if (result !== undefined) return json({ jsonrpc: '2.0', id, result }, { 'mcp-session-id': 'one' })
    if (init?.method === 'GET' && replies.length % 2 === 0) return new Response(null, { status: 405 })
    const reply =
      id === undefined && init?.method === 'POST' ? { status: 202, headers: {}, body: '' } : replies[next++]
    if (reply === undefined)
      return id === undefined
        ? new Response(null, { status: 404 })
        : json({ jsonrpc: '2.0', id, error: { code: -32000, message: 'enough' } }, {})
    const { status, headers, body } = reply
    return new Response(status === 204 ? null : withId(body, id), { status, headers })
  }
}

function idOf(body: unknown): { readonly id?: unknown; readonly method?: string } {
  return typeof body === 'string'
    ? (JSON.parse(body) as { readonly id?: unknown; readonly method?: string })
    : {}
}

function json(value: unknown, headers: Readonly<Record<string, string>>): Response {
  return new Response(JSON.stringify(value), { headers: { 'content-type': 'application/json', ...headers } })
}
