import { expect, test } from 'vitest'
import { z } from 'zod'
import { serviceOf } from '../../src/app/app.ts'
import { createServer } from '../../src/index.ts'
import { open, type Client } from '../harness/client.ts'
import { scenario } from '../harness/scenario.ts'

/** A server whose tool waits until it is told to stop, and tells when it began and how it ended. */
function make(): ReturnType<typeof createServer> & {
  began: Map<string, Promise<void>>
  ended: Map<string, Promise<string>>
} {
  const began = new Map<string, Promise<void>>()
  const ended = new Map<string, Promise<string>>()
  const begin = new Map<string, () => void>()
  const end = new Map<string, (how: string) => void>()
  for (const name of ['a', 'b']) {
    began.set(name, new Promise((resolve) => begin.set(name, resolve)))
    ended.set(name, new Promise((resolve) => end.set(name, resolve)))
  }
  const app = createServer({
    name: 'waits',
    version: '1',
    log: () => undefined,
    limits: { drainMs: 20 },
  }).tool(
    'wait',
    { input: { type: 'object', properties: { key: { type: 'string' } } } },
    async ({ key = 'a' }, { signal, progress }) => {
      begin.get(key)?.()
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      progress(1, 1, 'after the end')
      end.get(key)?.((signal.reason as Error).message)
      return 'never seen'
    },
  )
  return Object.assign(app, { began, ended })
}
type Waiting = ReturnType<typeof make>

function answers(client: Client, id: string): number {
  return client.transcript.filter(({ from, text }) => from === 'server' && text.includes(`"id":"${id}"`))
    .length
}

scenario(
  'a cancelled request stops, is not answered, and nothing more is sent for it [R194] [R067] [R127] [R191] [S4-14-2] [S4-14-3] [S2-9.4-14]',
  make,
  async (client, _revision, stage) => {
    const app = stage.app as unknown as Waiting
    const stop = new AbortController()
    const options = { id: 'work', signal: stop.signal, meta: { progressToken: 'p' } }
    const waiting = client.call('wait', { key: 'a' }, options)
    waiting.catch(() => undefined)
    await app.began.get('a')
    stop.abort()
    await app.ended.get('a')
    await client.settle()
    expect(answers(client, 'work')).toBe(0)
    expect(client.notices).toEqual([])
    await expect(waiting).rejects.toThrow('aborted')
    await client.settle()
  },
)

scenario(
  'the reason of a cancellation reaches the handler [S4-14-2]',
  make,
  async (client, _revision, stage) => {
    const app = stage.app as unknown as Waiting
    void client.put(client.requestText('work', 'tools/call', { name: 'wait', arguments: { key: 'a' } }))
    await app.began.get('a')
    await client.notify('notifications/cancelled', { requestId: 'work', reason: 'the user left' })
    expect(await app.ended.get('a')).toBe('the request was cancelled: the user left')
  },
  { until: '2025-11-25' },
)

scenario(
  'cancelling what is unknown, done or not one’s own does nothing [R193] [R194] [R008] [S4-14-2]',
  make,
  async (client, _revision, stage) => {
    const app = stage.app as unknown as Waiting
    const other = await stage.join()
    const stop = new AbortController()
    const waiting = client.call('wait', { key: 'a' }, { id: 'mine', signal: stop.signal })
    waiting.catch(() => undefined)
    await app.began.get('a')
    await other.notify('notifications/cancelled', { requestId: 'mine' })
    await client.notify('notifications/cancelled', { requestId: 'none' })
    await client.notify('notifications/cancelled', { requestId: 1 })
    for (const params of ['{}', '{"requestId":null}', '{"requestId":{"a":1}}']) {
      await client.put(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`)
    }
    await other.settle()
    await client.settle()
    expect(await Promise.race([app.ended.get('a'), Promise.resolve('still running')])).toBe('still running')
    stop.abort()
    await app.ended.get('a')
  },
)

scenario(
  'an id is free again once its request was cancelled [R003] [R004]',
  make,
  async (client, _revision, stage) => {
    const app = stage.app as unknown as Waiting
    const stop = new AbortController()
    client.call('wait', { key: 'a' }, { id: 'again', signal: stop.signal }).catch(() => undefined)
    await app.began.get('a')
    stop.abort()
    await app.ended.get('a')
    await client.settle()
    const { tools } = await client.get('tools/list', {}, { id: 'again' })
    expect(tools).toHaveLength(1)
  },
)

scenario(
  'a client that goes away cancels what it asked for [R194]',
  make,
  async (_client, _revision, stage) => {
    const app = stage.app as unknown as Waiting
    const other = await stage.join()
    other.call('wait', { key: 'b' }).catch(() => undefined)
    await app.began.get('b')
    await other.close()
    expect(await app.ended.get('b')).toBe('the connection closed before tools/call was answered')
  },
  { since: '2026-07-28' },
)

scenario(
  'the server never says that it cancels an ordinary request [R195]',
  make,
  async (client, _revision, stage) => {
    const app = stage.app as unknown as Waiting
    const stop = new AbortController()
    client.call('wait', { key: 'a' }, { signal: stop.signal }).catch(() => undefined)
    await app.began.get('a')
    stop.abort()
    await app.ended.get('a')
    await client.settle()
    const methods = client.transcript
      .filter(({ from }) => from === 'server')
      .map(({ text }) => (JSON.parse(text) as { method?: string }).method)
    expect(methods.filter((method) => method !== undefined)).toEqual([])
  },
  { since: '2026-07-28' },
)

/** A server whose tool fails when it is stopped, or at once; what it reports is kept. */
function makeFailing(): ReturnType<typeof createServer> & { began: Promise<void>; reports: string[] } {
  const reports: string[] = []
  let begin: () => void
  const began = new Promise<void>((resolve) => (begin = resolve))
  const app = createServer({
    name: 'fails',
    version: '1',
    log: (_level, message) => void reports.push(message),
  })
    .tool('stop', {}, async (_, { signal }) => {
      begin()
      await new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('interrupted')), { once: true }),
      )
      return 'never seen'
    })
    .tool('fail', {}, () => {
      throw new Error('broken')
    })
  return Object.assign(app, { began, reports })
}

scenario(
  'a handler that fails because its request was cancelled is not reported as broken',
  makeFailing,
  async (client, _revision, stage) => {
    const app = stage.app as unknown as ReturnType<typeof makeFailing>
    const stop = new AbortController()
    client.call('stop', {}, { id: 'work', signal: stop.signal }).catch(() => undefined)
    await app.began
    stop.abort()
    await expect.poll(() => serviceOf(app).load.running).toBe(0)
    expect([app.reports, app.counts.get('tool_failed')]).toEqual([[], undefined])
    await client.call('fail').catch(() => undefined)
    expect([app.reports, app.counts.get('tool_failed')]).toEqual([['tool "fail" failed'], 1])
    expect(answers(client, 'work')).toBe(0)
  },
)

test.each(['memory', 'stdio', 'ws', 'tcp'] as const)(
  'an initialize that is being answered cannot be cancelled: %s [S4-14-2]',
  async (transport) => {
    let begin: () => void = () => undefined
    let finish: () => void = () => undefined
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const finished = new Promise<void>((resolve) => (finish = resolve))
    const app = createServer({ name: 'slow', version: '1' }).use('initialize', async (_, next) => {
      begin()
      await finished
      return next()
    })
    const client = await open(app, { transport, revision: '2025-11-25', handshake: false })
    const { clientInfo } = client
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
    const opening = client.request('initialize', params, { id: 'open' })
    await begun
    await client.notify('notifications/cancelled', { requestId: 'open' })
    expect(await client.request('ping')).toEqual({})
    finish()
    expect(await opening).toMatchObject({ protocolVersion: '2025-11-25' })
    await client.close()
  },
)

test.each(['tools/call', 'prompts/get'])(
  '%s does not begin after it was cancelled during the check of its input',
  async (method) => {
    let isChecking = (): void => undefined
    let goOn = (): void => undefined
    const checking = new Promise<void>((resolve) => (isChecking = resolve))
    const goingOn = new Promise<void>((resolve) => (goOn = resolve))
    let began = 0
    const slow = z.object({ a: z.string().optional() }).refine(async () => {
      isChecking()
      await goingOn
      return true
    })
    const run = (): string => `began ${++began}`
    const app = createServer({ name: 'slow', version: '1', log: () => undefined })
      .tool('slow', { input: slow }, run)
      .prompt('slow', { args: slow }, run)
    const client = await open(app, { transport: 'memory', revision: '2025-11-25' })
    client.request(method, { name: 'slow', arguments: {} }, { id: 'one' }).catch(() => undefined)
    await checking
    await client.notify('notifications/cancelled', { requestId: 'one' })
    goOn()
    await client.request('ping')
    await new Promise(setImmediate)
    expect(began).toBe(0)
  },
)
