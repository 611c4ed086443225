import { expect, onTestFinished, test } from 'vitest'
import { Deferred } from '../../src/base/deferred.ts'
import { createServer, type App } from '../../src/index.ts'
import { testClient } from '../../src/testing.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import { call } from '../http/messages.ts'
import { open, start } from '../http/server.ts'

/** A server whose tool yields for ever, and a promise of its end. */
function endless(limits: Partial<Limits> = {}): {
  readonly app: App
  readonly begun: Promise<void>
  readonly over: Promise<void>
} {
  const [begun, over] = [new Deferred<void>(), new Deferred<void>()]
  const app = createServer({ name: 'log', version: '1', log: () => undefined, limits }).tool(
    'tail',
    {},
    async function* () {
      try {
        for (;;) {
          yield 'x'.repeat(1000)
          begun.resolve()
          await new Promise((resolve) => setTimeout(resolve, 1))
        }
      } finally {
        over.resolve()
      }
    },
  )
  onTestFinished(() => app.close())
  return { app, begun: begun.promise, over: over.promise }
}

test('a generator ends when its client has left and no stream could be resumed', async () => {
  const { app, begun, over } = endless()
  const { port } = await start(app)
  const { headers } = await open(port)
  const stop = new AbortController()
  const reply = fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    body: call('tail'),
    headers: headers as Record<string, string>,
    signal: stop.signal,
  })
  await begun
  stop.abort()
  await expect(reply).rejects.toThrow('aborted')
  await over
})

test('a generator whose result would exceed limits.yieldedBytes ends with an error', async () => {
  const { app, over } = endless({ yieldedBytes: 20_000 })
  const session = await open((await start(app)).port)
  expect(JSON.parse((await session.post(call('tail'))).text)).toMatchObject({ result: { isError: true } })
  await over
})

test('a generator may yield more than limits.yieldedBytes as progress, if it returns a value', async () => {
  const limits = { yieldedBytes: 20_000 }
  const app = createServer({ name: 'log', version: '1', log: () => undefined, limits }).tool(
    'follow',
    {},
    function* () {
      for (let at = 0; at < 50; at++) yield 'x'.repeat(1000)
      return 'done'
    },
  )
  await using client = await testClient(app)
  let seen = 0
  expect(await client.call('follow', {}, { onProgress: () => void seen++ })).toBe('done')
  expect(seen).toBe(50)
  await app.close()
})
