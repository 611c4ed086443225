import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META } from '../../src/protocol/meta.ts'
import type { Auth } from '../../src/rpc/call.ts'
import { createSealer } from '../../src/server/state.ts'
import type { AnyApp } from '../harness/connection.ts'

const SECRET = 'a secret of enough letters'
const OLDER = 'the secret of the year before'
const ada = { action: 'accept', content: { name: 'Ada' } }
const name = z.object({ name: z.string() })
let runs = 0

function make(secret: string | string[] = SECRET, facts: object = {}): AnyApp {
  return createServer({ name: 'state', version: '1', secret, log: () => undefined, ...facts })
    .tool(
      'greet',
      { input: z.object({ tone: z.string().optional() }) },
      async ({ tone }, { elicit, once }) => {
        const number = await once('run', () => ++runs)
        const { content } = await elicit('Your name?', name, { key: 'who' })
        return `${number} ${tone ?? 'Hello'} ${content?.name}`
      },
    )
    .tool('other', { input: z.object({ tone: z.string().optional() }) }, async (_, { elicit }) => {
      return `other ${(await elicit('Your name?', name, { key: 'who' })).content?.name}`
    })
    .prompt(
      'greet',
      {},
      async (_, { elicit }) => `Hello ${(await elicit('Your name?', name, { key: 'who' })).content?.name}`,
    ) as AnyApp
}

interface Reply extends JsonObject {
  readonly error?: { readonly code: number; readonly message: string }
  readonly result?: JsonObject & { readonly requestState?: string }
}

/** One request of a caller, on a connection of its own. */
async function ask(app: AnyApp, params: JsonObject, auth?: Auth, method = 'tools/call'): Promise<Reply> {
  const _meta = { [META.protocolVersion]: '2026-07-28', [META.clientCapabilities]: { elicitation: {} } }
  return new Promise((resolve) => {
    const end = app.connect({ receive: (text) => resolve(JSON.parse(text) as Reply), ...(auth && { auth }) })
    end.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }))
  })
}

const first = { name: 'greet', arguments: { tone: 'Ahoy' } }
const answered = { ...first, inputResponses: { who: ada } }

async function begin(app: AnyApp, auth?: Auth): Promise<string> {
  const { result } = await ask(app, first, auth)
  return result?.requestState as string
}

async function expectRefused(app: AnyApp, params: JsonObject, auth?: Auth, method?: string): Promise<void> {
  const { error } = await ask(app, params, auth, method)
  expect([params, error?.code]).toEqual([params, -32602])
}

test('N.state-forged a state that was not issued here is refused [R226]', async () => {
  const app = make()
  const foreign = await begin(make('somebody else’s secret'))
  const forged = [
    '',
    'x',
    '{}',
    btoa('{"answers":{}}'),
    'A'.repeat(60),
    'x'.repeat(300_000),
    '__proto__',
    foreign,
    '\ud800',
    'ü',
    '=',
    ' ',
  ]
  for (const requestState of forged) await expectRefused(app, { ...answered, requestState })
  for (const requestState of [null, 5, {}, [], true]) await expectRefused(app, { ...answered, requestState })
})

test('N.state-forged no digest of the arguments is made for a state that was not issued here', async () => {
  const app = make()
  const requestState = await begin(app)
  const digest = vi.spyOn(crypto.subtle, 'digest')
  try {
    for (const forged of ['x', 'A'.repeat(60), requestState.slice(1), await begin(make(OLDER))]) {
      digest.mockClear()
      await expectRefused(app, { ...answered, requestState: forged })
      expect([forged, digest.mock.calls.length]).toEqual([forged, 0])
    }
    expect((await ask(app, { ...answered, requestState })).result).toMatchObject({ isError: false })
    expect(digest).toHaveBeenCalledOnce()
  } finally {
    digest.mockRestore()
  }
})

test('N.state-server a state of another server with the same secret is refused, and one of another version of the server is not [R226]', async () => {
  const newer = make(SECRET, { version: '2', title: 'State', description: 'new' })
  const own = await ask(newer, { ...answered, requestState: await begin(make()) })
  expect(own.result).toMatchObject({ isError: false })
  const log: string[] = []
  const other = make(SECRET, { name: 'other', log: (_level: string, message: string) => log.push(message) })
  const foreign = await ask(other, { ...answered, requestState: await begin(make()) })
  const message = 'requestState was not accepted: it was not issued for this request'
  expect([foreign.error?.code, foreign.error?.message]).toEqual([-32602, message])
  expect(log.join()).toContain('give all of them the same name and the same secret')
  const longer = await begin(make('b secret of enough letters', { name: 'state a' }))
  await expectRefused(make('a b secret of enough letters'), { ...answered, requestState: longer })
})

/** A state as a version of the server sealed it that had no list of open questions. */
async function sealAsBefore(state: JsonObject, binding: string): Promise<string> {
  const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)
  const digest = await crypto.subtle.digest('SHA-256', bytes(`pierhead request state ${SECRET}`))
  const key = await crypto.subtle.importKey('raw', digest, 'AES-GCM', false, ['encrypt'])
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const algorithm = { name: 'AES-GCM', iv, additionalData: bytes(binding) }
  const sealed = await crypto.subtle.encrypt(algorithm, key, bytes(JSON.stringify(state)))
  return Buffer.concat([iv, new Uint8Array(sealed)]).toString('base64url')
}

test('N.state-forged a state of another version with the same secret is refused like one of another server', async () => {
  const app = make()
  const sealer = createSealer({ server: 'state', secrets: [SECRET], ttlMs: 60_000 })
  const binding = await sealer.bind('', 'tools/call', first)
  const older = { answers: [], once: [['run', 7]], expires: Date.now() + 60_000 }
  const { error } = await ask(app, { ...answered, requestState: await sealAsBefore(older, binding) })
  const message = 'requestState was not accepted: it was not issued for this request'
  expect([error?.code, error?.message]).toEqual([-32602, message])
  const requestState = await sealer.seal({ answers: [], once: [['run', 7]], open: ['who'] }, binding)
  const { result } = await ask(app, { ...answered, requestState })
  expect(result).toMatchObject({ content: [{ text: '7 Ahoy Ada' }] })
})

test('N.state-tamper N.state-truncated N.state-concatenated every change of a state is refused [R226]', async () => {
  const app = make()
  const state = await begin(app)
  const flip = (at: number): string =>
    state.slice(0, at) + (state[at] === 'A' ? 'B' : 'A') + state.slice(at + 1)
  const changed = Array.from({ length: state.length }, (_, at) => flip(at))
  for (const cut of [1, 2, 3, 4, 12, 16, 20, state.length - 1])
    changed.push(state.slice(0, -cut), state.slice(cut))
  changed.push(
    `${state}A`,
    `${state}=`,
    `${state}==`,
    `${state}\n`,
    ` ${state}`,
    `${state}${state}`,
    `${state}.${state}`,
    state.toUpperCase(),
  )
  for (const requestState of changed) await expectRefused(app, { ...answered, requestState })
  expect((await ask(app, { ...answered, requestState: state })).result).toMatchObject({ isError: false })
})

test('N.state-tool N.state-arguments N.state-method a state serves the request that it was issued for, and no other [R226]', async () => {
  const app = make()
  const requestState = await begin(app)
  const inputResponses = { who: ada }
  await expectRefused(app, { name: 'other', arguments: { tone: 'Ahoy' }, requestState, inputResponses })
  for (const args of [{}, undefined, { tone: 'ahoy' }, { tone: 'Ahoy', more: 1 }, { tone: ['Ahoy'] }]) {
    await expectRefused(app, { name: 'greet', arguments: args, requestState, inputResponses })
  }
  await expectRefused(app, { ...answered, requestState, extra: 1 })
  await expectRefused(app, { name: 'greet', requestState, inputResponses }, undefined, 'prompts/get')
  expect((await ask(app, { ...answered, requestState })).result).toMatchObject({ isError: false })
})

test('N.state-principal a state of one caller is worth nothing to another, whatever tells them apart [R226]', async () => {
  const app = make()
  const callers: readonly (Auth | undefined)[] = [
    undefined,
    {},
    { sub: 'a' },
    { sub: 'b' },
    { sub: '' },
    { iss: 'https://one.example', sub: 'a' },
    { iss: 'https://two.example', sub: 'a' },
    { client_id: 'one' },
    { client_id: 'two' },
    { sub: 'a', client_id: 'one' },
    { key: 'one' },
  ]
  for (const owner of callers) {
    const requestState = await begin(app, owner)
    for (const caller of callers) {
      if (caller !== owner) await expectRefused(app, { ...answered, requestState }, caller)
    }
    expect((await ask(app, { ...answered, requestState }, owner && { ...owner })).result).toMatchObject({
      isError: false,
    })
  }
})

test('N.state-expired a state lasts a quarter of an hour [R226]', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const app = make()
    const requestState = await begin(app)
    vi.setSystemTime(Date.now() + 14 * 60_000)
    expect((await ask(app, { ...answered, requestState })).result).toMatchObject({ isError: false })
    vi.setSystemTime(Date.now() + 2 * 60_000)
    const { error } = await ask(app, { ...answered, requestState })
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('expired') as string })
  } finally {
    vi.useRealTimers()
  }
})

test('N.state-rotated a state under the secret before is accepted, under one that was given up it is not', async () => {
  const requestState = await begin(make(OLDER))
  expect((await ask(make([SECRET, OLDER]), { ...answered, requestState })).result).toMatchObject({
    isError: false,
  })
  await expectRefused(make(SECRET), { ...answered, requestState })
})

test('N.state-replay a state that is brought twice repeats no work that it remembers', async () => {
  const app = make()
  const requestState = await begin(app)
  const before = runs
  const replies = await Promise.all([1, 2, 3].map(() => ask(app, { ...answered, requestState })))
  expect(runs).toBe(before)
  expect(new Set(replies.map(({ result }) => JSON.stringify(result)))).toHaveLength(1)
})

test('N.state-secret the state tells nothing of what it holds', async () => {
  const app = make()
  const states = await Promise.all(Array.from({ length: 50 }, () => begin(app)))
  expect(new Set(states).size).toBe(50)
  expect(new Set(states.map((state) => state.slice(0, 16))).size).toBe(50)
  for (const state of states)
    expect(Buffer.from(state, 'base64url').toString('latin1')).not.toMatch(/answers|once|Ahoy/)
})

test('N.answers-odd answers to questions that nobody asked, and of odd shapes, finish nothing', async () => {
  const app = make()
  const shapes = [
    null,
    5,
    [],
    'x',
    { action: 'maybe' },
    { action: 'accept' },
    { action: 'accept', content: { name: 5 } },
    { action: { toString: 'accept' } },
  ]
  for (const who of shapes) {
    const { result, error } = await ask(app, { ...first, inputResponses: { who } as JsonObject })
    expect([who, error?.code === -32602 || result?.['isError'] === true]).toEqual([who, true])
  }
  const odd = JSON.parse(
    '{"__proto__":{"action":"accept","content":{"name":"x"}},"constructor":{"action":"accept"}}',
  ) as JsonObject
  const { result } = await ask(app, { ...first, inputResponses: odd })
  expect(result).toMatchObject({ resultType: 'input_required', inputRequests: { who: {} } })
  const again = await ask(app, { ...answered, requestState: result?.requestState })
  expect(again.result).toMatchObject({ isError: false })
  expect(({} as JsonObject)['action']).toBeUndefined()
  for (const inputResponses of [[], 'x', 5, true])
    await expectRefused(app, { ...first, inputResponses } as JsonObject)
})

interface Shop {
  readonly app: AnyApp
  readonly ledger: string[]
}

/** A shop that charges for one answer, asks again, and then delivers what was ordered. */
function shop(): Shop {
  const ledger: string[] = []
  const count = z.object({ n: z.number() })
  const app = createServer({ name: 'shop', version: '1', secret: SECRET, log: () => undefined })
    .tool('buy', {}, async (_, { elicit, once }) => {
      const { content: order } = await elicit('How many?', count)
      const paid = await once('charge', () => {
        ledger.push(`charged ${order?.n}`)
        return order?.n
      })
      const { content: gift } = await elicit('How many as a gift?', count)
      ledger.push(`delivered ${order?.n} and ${gift?.n}`)
      return `paid ${paid}`
    })
    .tool('log', {}, async (_, { elicit, once }) => {
      await once('entry', () => void ledger.push('entered'))
      await elicit('How many?', count)
      return 'done'
    })
    .tool('both', {}, async (_, { elicit, once }) => {
      const slow = async (): Promise<number> => {
        await new Promise((resolve) => setImmediate(resolve))
        return ledger.push('charged')
      }
      await Promise.all([once('charge', slow), once('charge', slow), elicit('How many?', count)])
      return 'done'
    })
    .tool('chain', {}, async (_, { elicit, once }) => {
      const enter = async (entry: string): Promise<void> => {
        await new Promise((resolve) => setImmediate(resolve))
        ledger.push(entry)
      }
      const steps = async (): Promise<void> => {
        await once('one', () => enter('one'))
        await once('two', () => enter('two'))
      }
      await Promise.all([steps(), elicit('How many?', count)])
      return 'done'
    })
    .tool('fail', {}, async (_, { elicit, once }) => {
      const fails = (): never => {
        ledger.push('failed')
        throw new Error('not now')
      }
      await once('entry', fails).catch(() => once('entry', () => ledger.push('entered')))
      await elicit('How many?', count)
      return 'done'
    }) as AnyApp
  return { app, ledger }
}

const order = (n: number): JsonObject => ({ action: 'accept', content: { n } })

test('N.state-answered an answer that the state holds cannot be replaced in a later round [R226]', async () => {
  const { app, ledger } = shop()
  const start = (await ask(app, { name: 'buy' })).result?.requestState
  const inputResponses = { 'elicit-1': order(1) }
  const second = await ask(app, { name: 'buy', requestState: start, inputResponses })
  expect(second.result).toMatchObject({ inputRequests: { 'elicit-2': {} } })
  const { requestState } = second.result ?? {}
  for (const replaced of [order(1000), { action: 'decline' }, { action: 'accept', content: {} }, null, 5]) {
    const answers = { 'elicit-1': replaced, 'elicit-2': order(2) } as JsonObject
    const { result } = await ask(app, { name: 'buy', requestState, inputResponses: answers })
    expect(result).toMatchObject({ isError: false, content: [{ text: 'paid 1' }] })
    expect(ledger.at(-1)).toBe('delivered 1 and 2')
  }
  expect(ledger.filter((entry) => entry.startsWith('charged'))).toEqual(['charged 1'])
})

test('N.state-unasked a state takes answers to the questions that it left open, and keeps no others [R227]', async () => {
  const { app, ledger } = shop()
  const start = (await ask(app, { name: 'buy' })).result?.requestState
  const early = { 'elicit-1': order(1), 'elicit-2': order(2), 'elicit-3': order(3) }
  const second = await ask(app, { name: 'buy', requestState: start, inputResponses: early })
  expect(Object.keys(second.result?.['inputRequests'] as object)).toEqual(['elicit-2'])
  const alone = { 'elicit-1': order(1) }
  const plain = await ask(app, { name: 'buy', requestState: start, inputResponses: alone })
  expect(second.result?.requestState).toHaveLength(plain.result?.requestState?.length as number)
  const { requestState } = second.result ?? {}
  const none = await ask(app, { name: 'buy', requestState, inputResponses: { 'elicit-3': order(3) } })
  expect(Object.keys(none.result?.['inputRequests'] as object)).toEqual(['elicit-2'])
  expect(ledger.filter((entry) => entry.startsWith('delivered'))).toEqual([])
})

test('N.state-once what ran once is in the state, without a value and beside a question too', async () => {
  const { app, ledger } = shop()
  for (const [name, ...entries] of [
    ['log', 'entered'],
    ['both', 'charged'],
    ['chain', 'one', 'two'],
    ['fail', 'failed', 'entered'],
  ]) {
    ledger.length = 0
    const { requestState } = (await ask(app, { name })).result ?? {}
    const again = await ask(app, { name, requestState })
    expect(again.result).toMatchObject({ resultType: 'input_required' })
    const key = Object.keys(again.result?.['inputRequests'] as object)[0] as string
    const inputResponses = { [key]: order(1) }
    const last = { name, requestState: again.result?.requestState, inputResponses }
    expect((await ask(app, last)).result).toMatchObject({ isError: false })
    expect([name, ledger]).toEqual([name, entries])
  }
})

test('N.state-replay the key of ctx.once before a question is the same in every repeat of the last round', async () => {
  const done = new Map<string, number>()
  const app = createServer({ name: 'keyed', version: '1', secret: SECRET, log: () => undefined }).tool(
    'pay',
    {},
    async (_, { elicit, once }) => {
      const key = await once('key', () => crypto.randomUUID())
      const { content } = await elicit('How much?', z.object({ n: z.number() }), { key: 'amount' })
      if (!done.has(key)) done.set(key, content?.n as number)
      return `paid ${done.get(key)}`
    },
  ) as AnyApp
  const { requestState } = (await ask(app, { name: 'pay' })).result ?? {}
  for (const n of [1, 1, 1000]) {
    const { result } = await ask(app, { name: 'pay', requestState, inputResponses: { amount: order(n) } })
    expect(result).toMatchObject({ content: [{ text: 'paid 1' }] })
  }
  expect([...done.values()]).toEqual([1])
})

const sure = z.object({ ok: z.boolean() })
const yes = { action: 'accept', content: { ok: true } }

/** A tool whose first question depends on a value that changes between rounds. */
function makePayment(facts: object = {}): { app: AnyApp; at: { price: number } } {
  const at = { price: 200 }
  const app = createServer({ name: 'state', version: '1', secret: SECRET, log: () => undefined, ...facts })
    .tool('pay', {}, async (_, { elicit }) => {
      if (at.price > 100 && (await elicit('The price is high. Continue?', sure)).action !== 'accept')
        return 'stopped'
      const { action } = await elicit('Delete all files?', sure)
      return action === 'accept' ? 'deleted' : 'kept'
    })
    .tool('both', {}, async (_, { elicit }) => {
      const [one, two] = await Promise.all([elicit(`One ${at.price}?`, sure), elicit('Two?', sure)])
      return `${one.content?.ok} ${two.content?.ok}`
    })
    .tool('kept', {}, async (_, { elicit }) => {
      const { content } = await elicit(`Pay ${at.price}?`, sure)
      return `${content?.ok} ${(await elicit('Sure?', sure)).content?.ok}`
    })
    .tool('keyed', {}, async (_, { elicit }) => {
      const { content } = await elicit(`It is ${at.price} o’clock. Go on?`, sure, { key: 'go' })
      return `${content?.ok}`
    }) as AnyApp
  return { app, at }
}

/** Answers a question of an earlier round with yes. */
function answer(app: AnyApp, tool: string, before: Reply, ...keys: string[]): Promise<Reply> {
  const inputResponses = Object.fromEntries(keys.map((key) => [key, yes]))
  return ask(app, { name: tool, requestState: before.result?.requestState, inputResponses })
}

const asks = (reply: Reply): unknown =>
  Object.entries((reply.result?.['inputRequests'] ?? {}) as Record<string, { params: JsonObject }>).map(
    ([key, { params }]) => [key, params['message']],
  )

test('N.state-question an answer to one question does not count for another that took its place', async () => {
  const { app, at } = makePayment()
  const first = await ask(app, { name: 'pay' })
  expect(asks(first)).toEqual([['elicit-1', 'The price is high. Continue?']])
  at.price = 50
  const second = await answer(app, 'pay', first, 'elicit-1')
  expect(asks(second)).toEqual([['elicit-1', 'Delete all files?']])
  const third = await answer(app, 'pay', second, 'elicit-1')
  expect(third.result).toMatchObject({ content: [{ text: 'deleted' }] })
})

test('N.state-question an answer in the state does not count for another question either', async () => {
  const { app, at } = makePayment()
  const second = await answer(app, 'kept', await ask(app, { name: 'kept' }), 'elicit-1')
  expect(asks(second)).toEqual([['elicit-2', 'Sure?']])
  at.price = 900
  const third = await answer(app, 'kept', second, 'elicit-2')
  expect(asks(third)).toEqual([['elicit-1', 'Pay 900?']])
  const fourth = await answer(app, 'kept', third, 'elicit-1')
  expect(fourth.result).toMatchObject({ content: [{ text: 'true true' }] })
})

test('N.state-question an early answer counts for the question that it answered, and for no later one', async () => {
  const { app, at } = makePayment()
  const first = await ask(app, { name: 'kept', inputResponses: { 'elicit-1': yes } })
  expect(asks(first)).toEqual([['elicit-2', 'Sure?']])
  at.price = 900
  expect(asks(await answer(app, 'kept', first, 'elicit-2'))).toEqual([['elicit-1', 'Pay 900?']])
})

test('N.state-question a question that changed is asked again alone, and the log says how to prevent it', async () => {
  const log: string[] = []
  const { app, at } = makePayment({ log: (_level: string, message: string) => log.push(message) })
  const first = await ask(app, { name: 'both' })
  expect(asks(first)).toHaveLength(2)
  at.price = 201
  const second = await answer(app, 'both', first, 'elicit-1', 'elicit-2')
  expect(asks(second)).toEqual([['elicit-1', 'One 201?']])
  expect(log.join()).toMatch(/"both" asks again.*changed between two rounds.*ctx\.once.*key/)
  const third = await answer(app, 'both', second, 'elicit-1')
  expect(third.result).toMatchObject({ content: [{ text: 'true true' }] })
})

test('N.state-question the answer to a question with a key of its own counts whatever its text is', async () => {
  const { app, at } = makePayment()
  const first = await ask(app, { name: 'keyed' })
  at.price = 201
  expect((await answer(app, 'keyed', first, 'go')).result).toMatchObject({ content: [{ text: 'true' }] })
})

test('N.state-question a state of a version that did not remember the questions is accepted', async () => {
  const { app } = makePayment()
  const sealer = createSealer({ server: 'state', secrets: [SECRET], ttlMs: 60_000 })
  const binding = await sealer.bind('', 'tools/call', { name: 'kept' })
  const state = { answers: [['elicit-1', yes]] as const, once: [], open: ['elicit-2'] }
  const result = { requestState: await sealer.seal(state, binding) }
  expect((await answer(app, 'kept', { result }, 'elicit-2')).result).toMatchObject({
    content: [{ text: 'true true' }],
  })
})
