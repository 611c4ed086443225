import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import type { LocalServer } from '../client/target.ts'
import { createServer, type App } from '../index.ts'
import { REVISIONS } from '../protocol/revisions.ts'
import { everyRevision, testClient } from './test-client.ts'

function createDesk(): App {
  return createServer({ name: 'desk', version: '1.0.0', log: () => undefined })
    .tool('who', {}, (_, { auth, revision }) => `${auth?.sub ?? 'nobody'} at ${revision}`)
    .tool('ask', {}, async (_, { elicit }) => {
      const { action, content } = await elicit('Name?', z.object({ name: z.string() }))
      return `${action} ${content?.name ?? ''}`
    })
    .tool('visit', {}, async (_, { elicitUrl }) => (await elicitUrl('Go', 'https://example.com/')).action)
    .tool(
      'model',
      {},
      async (_, { sample }) => (await sample({ messages: [{ role: 'user', content: 'hi' }] })).model,
    )
    .tool('folders', {}, async (_, { roots }) => (await roots()).map(({ uri }) => uri).join())
    .tool('work', {}, (_, { progress, log }) => {
      progress(1, 2)
      log.error('careful')
      progress(2, 2)
      return 'worked'
    })
}

test('every revision is run once, oldest first', () => {
  const seen: string[] = []
  everyRevision((revision) => seen.push(revision))
  expect(seen).toEqual([...REVISIONS])
})

everyRevision((revision) =>
  describe(`a test client at ${revision}`, () => {
    test('speaks that revision and is whom it was said to be', async () => {
      await using client = await testClient(createDesk(), { revision, auth: { sub: 'u1' } })
      expect(await client.call('who')).toBe(`u1 at ${revision}`)
      await using nobody = await testClient(createDesk(), { revision })
      expect(await nobody.call('who')).toBe(`nobody at ${revision}`)
    })

    test('gives the answers that it was given, and fails when it is asked once more', async () => {
      const message = { role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'canned' }
      const roots = [{ uri: 'file:///srv' }]
      await using client = await testClient(createDesk(), { revision, answers: { sample: [message], roots } })
      expect(await client.call('folders')).toBe('file:///srv')
      expect(await client.call('model')).toBe('canned')
      await expect(client.call('model')).rejects.toThrow(/reference|was asked once more/)
    })

    test('records what happened besides results, in order', async () => {
      await using client = await testClient(createDesk(), { revision })
      await client.setLogLevel('error')
      expect(await client.call('work')).toBe('worked')
      const seen = client.events.map(({ kind, value }) => [kind, value])
      expect(seen).toMatchObject([
        ['state', 'ready'],
        ['progress', { progress: 1, total: 2 }],
        ['log', { level: 'error', data: 'careful' }],
        ['progress', { progress: 2, total: 2 }],
      ])
    })
  }),
)

describe.each(REVISIONS.filter((revision) => revision >= '2025-06-18'))('a test client at %s', (revision) => {
  test('answers forms from a list, one by one, or by a function', async () => {
    const elicit = [{ action: 'accept', content: { name: 'Zoe' } }, { action: 'cancel' }] as const
    await using client = await testClient(createDesk(), { revision, answers: { elicit } })
    expect(await client.call('ask')).toBe('accept Zoe')
    expect(await client.call('ask')).toBe('cancel ')
    await using other = await testClient(createDesk(), {
      revision,
      answers: { elicit: ({ message }) => ({ action: 'accept', content: { name: message } }) },
    })
    expect(await other.call('ask')).toBe('accept Name?')
  })
})

test('a test client agrees to visit URLs if configured to', async () => {
  const answers = { elicitUrl: [{ action: 'accept' }, { action: 'decline' }] } as const
  await using client = await testClient(createDesk(), { answers })
  expect([await client.call('visit'), await client.call('visit')]).toEqual(['accept', 'decline'])
})

test('a test client speaks the newest revision by default, and waits no longer than its timeout', async () => {
  await using client = await testClient(createDesk(), { timeout: 30 })
  expect(await client.call('who')).toBe('nobody at 2026-07-28')
  client.faults.slow(200)
  await expect(client.call('who')).rejects.toMatchObject({ kind: 'timeout' })
})

test('a test client waits 10 s for a sign of life, and 60 s for the answer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const app = createDesk()
    .tool('silent', {}, () => new Promise<string>(() => undefined))
    .tool('lively', {}, (_, { progress, signal }) => {
      let told = 0
      const timer = setInterval(() => progress(++told), 9_000)
      signal.addEventListener('abort', () => clearInterval(timer))
      return new Promise<string>(() => undefined)
    })
  await using client = await testClient(app)
  const silent = client.call('silent').catch((error: Error) => error.message)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await silent).toContain('was not answered within 10000 ms')
  const lively = client.call('lively').catch((error: Error) => error.message)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await lively).toContain('was not answered within 60000 ms')
})

test('a test client records every kind of event that a server in the same process can cause', async () => {
  const heard: string[] = []
  let say: (text: string) => void = () => undefined
  const server: LocalServer = {
    connect(options) {
      say = (text) => options.receive(text)
      const receive = (text: string): void => {
        heard.push(text)
        options.receive(text)
      }
      return createDesk().connect({ ...options, receive })
    },
  }
  const answers = { elicitUrl: [{ action: 'accept' }] } as const
  await using client = await testClient(server, { revision: '2025-11-25', answers })
  expect(await client.call('visit')).toBe('accept')
  const [, elicitationId] = /"elicitationId":"([^"]+)"/.exec(heard.join('\n')) as unknown as [string, string]
  const tell = (method: string, params = {}): void => say(JSON.stringify({ jsonrpc: '2.0', method, params }))
  tell('notifications/message', { level: 'error', data: 'careful' })
  tell('notifications/tools/list_changed')
  tell('notifications/prompts/list_changed')
  tell('notifications/resources/list_changed')
  tell('notifications/resources/updated', { uri: 'a://b' })
  tell('notifications/elicitation/complete', { elicitationId })
  tell('notifications/elicitation/complete', { elicitationId: 'of nobody' })
  tell('notifications/example', { a: 1 })
  await expect.poll(() => client.events.at(-1)?.kind).toBe('notification')
  say('{"jsonrpc":"2.0","error":{"code":-32700,"message":"what?"}}')
  client.faults.drop()
  expect(client.events).toEqual([
    { kind: 'state', value: 'ready' },
    { kind: 'log', value: { level: 'error', data: 'careful' } },
    { kind: 'change', value: { kind: 'tools' } },
    { kind: 'change', value: { kind: 'prompts' } },
    { kind: 'change', value: { kind: 'resources' } },
    { kind: 'change', value: { kind: 'resource', uri: 'a://b' } },
    { kind: 'elicited', value: { elicitationId } },
    { kind: 'notification', value: { method: 'notifications/example', params: { a: 1 } } },
    { kind: 'warning', value: expect.stringContaining('what?') },
    { kind: 'warning', value: expect.stringContaining('the connection closed') },
    { kind: 'state', value: 'reconnecting' },
  ])
})
