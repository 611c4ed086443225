import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import { isObject, member, type Message } from '../../src/validate/message.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import { serveEverywhere, type Served } from './faulty-door.ts'
import { without, type Fault, type Instead } from './fault.ts'
import { createFixture } from './fixture.ts'
import { wholeRun } from './whole-run.ts'

let served: Served
beforeAll(async () => {
  served = await serveEverywhere(createFixture())
})
afterAll(() => served.close())

/** The rules that look at greetings. */
const RULES = ['V001', 'R031', 'R032', 'R048', 'R049', 'R052', 'V090']

type Change = (message: Message) => Instead
const inResult =
  (change: (result: Message) => unknown): Change =>
  (message) => ({ ...message, result: change(message['result'] as Message) })
const inCapabilities = (change: (capabilities: Message) => unknown): Change =>
  inResult((result) => ({ ...result, capabilities: change(result['capabilities'] as Message) }))
const failing: Change = ({ id }) => ({ jsonrpc: '2.0', id, error: { code: -32_603, message: 'oops' } })

const ANY: readonly (readonly [string, Change])[] = [
  ['is answered without a result', (message) => without(message, 'result')],
  ['is answered with null', inResult(() => null)],
  ['is answered with a text', inResult(() => 'hello')],
  ['is answered with an empty result', inResult(() => ({}))],
  ['is answered with an error', failing],
  ['is not answered', () => undefined],
  ['declares no capabilities', inResult((result) => without(result, 'capabilities'))],
  ['has a list of capabilities', inCapabilities((capabilities) => Object.keys(capabilities))],
  ['declares tools with true', inCapabilities((capabilities) => ({ ...capabilities, tools: true }))],
  [
    'has a text as listChanged',
    inCapabilities((capabilities) => ({ ...capabilities, tools: { listChanged: 'yes' } })),
  ],
  [
    'has a text as an experimental capability',
    inCapabilities((capabilities) => ({ ...capabilities, experimental: { thing: 'yes' } })),
  ],
  ['has a number as its instructions', inResult((result) => ({ ...result, instructions: 7 }))],
]

const versions = (protocolVersion: unknown): Change => inResult((result) => ({ ...result, protocolVersion }))
const INITIALIZE: readonly (readonly [string, Change])[] = [
  ...ANY,
  ['names no version', inResult((result) => without(result, 'protocolVersion'))],
  ['names a version from before the first', versions('1999-01-01')],
  ['names a version of the far future', versions('2099-12-31')],
  ['names a version that is not a date', versions('latest')],
  ['has a number as its version', versions(20_251_125)],
  ['does not say who it is', inResult((result) => without(result, 'serverInfo'))],
  [
    'has a name that is a number',
    inResult((result) => ({ ...result, serverInfo: { name: 1, version: '1' } })),
  ],
]
const supported = (supportedVersions: unknown): Change =>
  inResult((result) => ({ ...result, supportedVersions }))
const DISCOVER: readonly (readonly [string, Change])[] = [
  ...ANY,
  ['names no versions', inResult((result) => without(result, 'supportedVersions'))],
  ['has an empty list of versions', supported([])],
  ['has a text as its versions', supported('2026-07-28')],
  ['has a version that is a number', supported([20_260_728])],
  [
    'does not say which version it is',
    inResult((result) => ({
      ...result,
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'validated' } },
    })),
  ],
]

const CASES = [
  ...INITIALIZE.map(([does, change]) => ({ method: 'initialize', does, change })),
  ...DISCOVER.map(([does, change]) => ({ method: 'server/discover', does, change })),
].flatMap((one) => (['http', 'stdio'] as const).map((transport) => ({ ...one, transport })))

describe.concurrent('greetings', () => {
  test.for(CASES)('$method $does on $transport: a rule fails', async (place, { expect }) => {
    const { method, change, transport } = place
    const { outcomes } = await wholeRun(served, {
      transport,
      only: RULES,
      mayCall: false,
      fault: { message: (message, request) => (request?.['method'] === method ? change(message) : message) },
    })
    const found = outcomes.filter(({ is }) => is === 'failed')
    expect(found.map(({ id }) => id)).not.toEqual([])
    expect(found.every(({ entries = [] }) => entries.length > 0)).toBe(true)
  })
})

/** Answers of a server that is right, and supports little. */
const only =
  (...revisions: readonly Revision[]) =>
  (message: Message): Instead => {
    const { id, method } = message
    const asked = member(message, 'params', 'protocolVersion')
    if (method === 'initialize' && !revisions.includes(asked as Revision)) {
      const legacy = revisions.filter((one) => one !== '2026-07-28').at(-1)
      return legacy === undefined
        ? { jsonrpc: '2.0', id, error: { code: -32_601, message: 'unknown' } }
        : {
            jsonrpc: '2.0',
            id,
            result: { protocolVersion: legacy, capabilities: {}, serverInfo: { name: 'x', version: '1' } },
          }
    }
    const isModern = isObject(member(message, 'params', '_meta')) && !revisions.includes('2026-07-28')
    return isModern && id !== undefined
      ? { jsonrpc: '2.0', id, error: { code: -32_601, message: 'unknown' } }
      : undefined
  }

test.each([['2025-06-18'], ['2026-07-28'], ['2024-11-05', '2025-11-25']] as const)(
  'a server of %s %s is checked at these alone',
  async (...revisions) => {
    const { places } = await wholeRun(served, {
      transport: 'stdio',
      only: ['R011'],
      fault: { answer: only(...(revisions as readonly Revision[])) },
    })
    expect(places[0]?.revisions).toEqual(revisions)
  },
)

test('a server that refuses every greeting is checked at one revision', async () => {
  const app = createServer({ name: 'none', version: '1.0.0' })
  const none = await serveEverywhere(app)
  try {
    const { places, outcomes } = await wholeRun(none, {
      transport: 'tcp',
      only: ['V001'],
      fault: { message: (message) => ('result' in message ? failing(message) : message) },
    })
    expect(places.map(({ revisions }) => revisions)).toEqual([['2025-11-25']])
    expect(outcomes.map(({ is }) => is)).toEqual(['failed'])
  } finally {
    await none.close()
  }
})

/** Replies over HTTP with another type. */
const typed =
  (type: string | undefined): NonNullable<Fault['http']> =>
  async (_request, next) => {
    const reply = await next()
    return {
      ...reply,
      headers: { ...without(reply.headers, 'content-type'), ...(type && { 'content-type': type }) } as Record<
        string,
        string
      >,
    }
  }

test.concurrent.each([
  ['stdio', 'writes events', { message: (message: Message) => `data: ${JSON.stringify(message)}` }],
  [
    'stdio',
    'writes two messages on a line',
    { message: (message: Message) => JSON.stringify(message).repeat(2) },
  ],
  [
    'tcp',
    'writes headers',
    { message: (message: Message) => [`Content-Length: 7`, `> ${JSON.stringify(message)}`] },
  ],
  ['http', 'has no type', { http: typed(undefined) }],
  ['http', 'has plain text', { http: typed('text/plain') }],
  ['sse', 'has other events', { http: inOtherEvents() }],
] as const)(
  'on %s, a server that %s is checked, though nobody can read it',
  async (transport, _does, fault) => {
    const revision = transport === 'sse' ? '2024-11-05' : '2025-11-25'
    const only = ['V001', 'R061']
    const revisions = transport === 'http' ? undefined : ([revision] as const)
    const { outcomes, places } = await wholeRun(served, { transport, fault, revisions, only })
    expect(places.map((place) => place.revisions)).toEqual([[revision]])
    const rules = transport === 'stdio' ? only : ['V001']
    expect(outcomes.map(({ id, is }) => `${id} ${is}`)).toEqual(rules.map((id) => `${id} failed`))
  },
  60_000,
)

/** Sends messages as events of another type. */
function inOtherEvents(): NonNullable<Fault['http']> {
  return async (_request, next) => {
    const reply = await next()
    if (reply.body === null || typeof reply.body === 'string') return reply
    const [decoder, encoder] = [new TextDecoder(), new TextEncoder()]
    const renamed = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) =>
        controller.enqueue(encoder.encode(decoder.decode(chunk).replaceAll('event: message', 'event: mcp'))),
    })
    return { ...reply, body: reply.body.pipeThrough(renamed) }
  }
}

test.concurrent.each(['stdio', 'http'] as const)(
  'a program or a site that is no server is not checked (%s)',
  async (transport) => {
    const { places, outcomes } = await wholeRun(served, {
      transport,
      revisions: ['2025-11-25'],
      fault: {
        message: () => 'listening on port 3000',
        http: () => ({ status: 200, headers: { 'content-type': 'text/html' }, body: '<p>hello</p>' }),
      },
    })
    expect(outcomes).toEqual([])
    expect(places[0]?.problem).toMatch(/no response/)
  },
)

test('something that never answers is not checked', async () => {
  const { places, outcomes } = await wholeRun(served, {
    transport: 'stdio',
    fault: { message: () => undefined },
  })
  expect(outcomes).toEqual([])
  expect(places[0]?.problem).toMatch(/no response/)
})
