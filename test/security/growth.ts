import process from 'node:process'
import { serviceOf } from '../../src/app/app.ts'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META } from '../../src/protocol/meta.ts'
import { Endpoint } from '../../src/transport/http/server/endpoint.ts'
import type { HttpOut } from '../../src/transport/http/server/parts.ts'

// Sends very many hostile messages of each kind and says how much memory each kind left behind.
const TIMES = 20_000
const WARM = 2_000

const app = createServer({
  name: 'growth',
  version: '1',
  log: () => undefined,
  pageSize: 2,
  limits: { sessions: 500 },
})
  .tool(
    'echo',
    { input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } },
    ({ text }) => text,
  )
  .tool('boom', {}, () => {
    throw new Error('boom')
  })
  .tool('step', {}, (_, { progress }) => {
    progress(1)
    return 'stepped'
  })
  .tool('ask', {}, async (_, { elicit }) => (await elicit('?', { type: 'object', properties: {} })).action)
  .prompt('greet', {}, () => 'hello')
  .resource('item://{id}', {}, ({ id }) => id)
  .complete('item://{id}', 'id', () => [])

const envelope = { [META.protocolVersion]: '2026-07-28', [META.clientCapabilities]: { elicitation: {} } }
const text = (method: string, params: JsonObject, id?: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', ...(id === undefined ? {} : { id }), method, params })
const modern = (method: string, params: JsonObject, id: unknown): string =>
  text(method, { ...params, _meta: { ...envelope, ...(params['_meta'] as object) } }, id)
const opening = text(
  'initialize',
  { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  0,
)

let replies = 0
const end = app.connect({ receive: () => void replies++ })
end.send(opening)
const line =
  (toText: (at: number) => string) =>
  (at: number): void =>
    end.send(toText(at))

const endpoint = new Endpoint(serviceOf(app), {
  limits: app.limits,
  hosts: ['loopback'],
  cors: [],
  sessions: true,
})
const http = (method: string, headers: Record<string, string>, body = ''): HttpOut | Promise<HttpOut> => {
  const all: Record<string, string> = { host: 'localhost', 'content-type': 'application/json', ...headers }
  const head = { method, header: (name: string) => all[name] }
  return endpoint.rejectHead(head) ?? endpoint.answer({ ...head, body, onGone: () => undefined } as never)
}

const KINDS: Record<string, (at: number) => unknown> = {
  garbage: line((at) => `{"a":${at}`),
  'no message': line((at) => `{"jsonrpc":"2.0","id":${at}}`),
  'repeated keys': line((at) => `{"jsonrpc":"2.0","id":${at},"method":"ping","k${at}":1,"k${at}":2}`),
  'many keys': line((at) =>
    text('ping', Object.fromEntries(Array.from({ length: 20 }, (_, k) => [`k${at}-${k}`, k])), at),
  ),
  'large ids': line((at) => `{"jsonrpc":"2.0","id":${10n ** 30n + BigInt(at)},"method":"ping"}`),
  'string ids': line((at) => text('ping', {}, `id ${at} ${'x'.repeat(100)}`)),
  'unknown methods': line((at) => text(`method/${at}`, {}, at)),
  'unknown notifications': line((at) => text(`notifications/${at}`, { at })),
  'unknown tools': line((at) => text('tools/call', { name: `tool-${at}` }, at)),
  'unknown prompts': line((at) => text('prompts/get', { name: `prompt-${at}` }, at)),
  'bad arguments': line((at) => text('tools/call', { name: 'echo', arguments: { [`k${at}`]: at } }, at)),
  'failing tools': line((at) => text('tools/call', { name: 'boom' }, at)),
  'progress tokens': line((at) =>
    text('tools/call', { name: 'step', _meta: { progressToken: `t${at}` } }, at),
  ),
  'forged answers': line((at) => `{"jsonrpc":"2.0","id":${at},"result":{"at":${at}}}`),
  'forged cancellations': line((at) => text('notifications/cancelled', { requestId: `r${at}` })),
  'forged progress': line((at) => text('notifications/progress', { progressToken: at, progress: at })),
  'second handshakes': line(() => opening),
  'resources read': line((at) => text('resources/read', { uri: `item://${at}` }, at)),
  'resources subscribed to': line((at) => text('resources/subscribe', { uri: `item://${at}` }, at)),
  'resources unsubscribed from': line((at) => text('resources/unsubscribe', { uri: `item://${at}` }, at)),
  completions: line((at) =>
    text(
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'item://{id}' }, argument: { name: 'id', value: `${at}` } },
      at,
    ),
  ),
  cursors: line((at) => text('tools/list', { cursor: btoa(`tools:${at}`).replace(/=+$/, '') }, at)),
  'log levels': line((at) => text('logging/setLevel', { level: `l${at}` }, at)),
  'requests of 2026': line((at) => modern('tools/call', { name: 'echo', arguments: { text: `${at}` } }, at)),
  'versions of 2026': line((at) =>
    text('tools/list', { _meta: { ...envelope, [META.protocolVersion]: `v${at}` } }, at),
  ),
  'questions of 2026': line((at) => modern('tools/call', { name: 'ask', arguments: {} }, at)),
  'states of 2026': line((at) =>
    modern(
      'tools/call',
      { name: 'ask', arguments: {}, requestState: `s${at}`, inputResponses: { [`k${at}`]: {} } },
      at,
    ),
  ),
  'listening of 2026': (at) => {
    end.send(
      modern(
        'subscriptions/listen',
        { notifications: { toolsListChanged: true, resourceSubscriptions: [`item://${at}`] } },
        at,
      ),
    )
    end.send(text('notifications/cancelled', { requestId: at }))
  },
  'connections that go': (at) => {
    const own = app.connect({ receive: () => undefined })
    own.send(opening)
    own.send(text('resources/subscribe', { uri: `item://${at}` }, 1))
    own.close()
  },
  'hosts and origins': (at) =>
    http('POST', { host: `h${at}.example`, origin: `https://o${at}.example` }, opening),
  'accepted types': (at) => http('POST', { accept: `application/json, x/y${at}` }, `{"a":${at}`),
  'unknown sessions': (at) => http('POST', { 'mcp-session-id': `s${at}` }, text('ping', {}, at)),
  'unknown events': (at) =>
    http('GET', { 'mcp-session-id': `s${at}`, 'last-event-id': `r1_${at}`, accept: 'text/event-stream' }),
  'sessions that are abandoned': () => http('POST', {}, opening),
  'headers of 2026': (at) =>
    http(
      'POST',
      { 'mcp-protocol-version': '2026-07-28', 'mcp-method': `m${at}` },
      modern('tools/list', {}, at),
    ),
}

const held = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function attack(act: (at: number) => unknown, from: number, to: number): Promise<void> {
  for (let at = from; at < to; at++) {
    const out = act(at)
    if (out instanceof Promise) await out
    else if (at % 500 === 0) await settle()
  }
  do await settle()
  while (serviceOf(app).load.running > 0)
}

const found: Record<string, { grown: number; ms: number }> = {}
for (const [kind, act] of Object.entries(KINDS)) {
  await attack(act, 1, WARM)
  const before = held()
  const begun = performance.now()
  await attack(act, WARM, WARM + TIMES)
  found[kind] = { ms: Math.round(performance.now() - begun), grown: held() - before }
}
process.stdout.write(JSON.stringify({ found, replies, alive: endpoint.sessions.size }))
await endpoint.close()
process.exit(0)
