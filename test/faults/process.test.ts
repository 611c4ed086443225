import { request } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { call, message } from '../http/messages.ts'
import { start, tools } from '../http/server.ts'
import { opened } from '../stdio/child.ts'

const EVENTS = ['uncaughtException', 'unhandledRejection'] as const
const listeners = (): readonly number[] => EVENTS.map((event) => process.listenerCount(event))

test('over stdio a server outlives an error that escapes from a tool, and tells stderr [F19]', async () => {
  const child = await opened()
  child.send(call('crash', {}, 2))
  await child.until(({ stderr }) => stderr.includes('nobody caught this'))
  child.send(message('ping', {}, 3))
  expect(await child.reply(3)).toMatchObject({ result: {} })
  child.process.stdin.end()
  expect(await child.exited).toBe(0)
})

test('only listening takes care of the process, and only while it lasts [F19]', async () => {
  const before = listeners()
  const app = tools()
  app.node()
  await app.fetch(new Request('http://localhost/mcp'))
  const end = app.connect({ receive: () => undefined })
  await start(app)
  expect(listeners()).toEqual(before)
  const all = [await app.listen({ http: { port: 0 } }), await tools().listen({ http: { port: 0 } })]
  expect(listeners()).toEqual(before.map((count) => count + 1))
  await all[0]?.close()
  expect(listeners()).toEqual(before.map((count) => count + 1))
  await all[1]?.close()
  expect(listeners()).toEqual(before)
  const indifferent = await tools().listen({ http: { port: 0 }, onUncaught: 'exit' })
  expect(listeners()).toEqual(before)
  await indifferent.close()
  end.close()
})

test('a request that is half sent when the server ends does not keep it [F20]', async () => {
  const running = await tools().listen({ http: { port: 0 } })
  const half = request(running.url as string, { method: 'POST', headers: { 'content-length': '100' } })
  onTestFinished(() => void half.destroy())
  const cut = new Promise((resolve) =>
    half
      .on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
      .on('response', ({ statusCode }) => resolve(statusCode)),
  )
  half.write('{')
  await new Promise((resolve) => half.once('socket', (socket) => socket.once('connect', resolve)))
  await running.close()
  expect(await cut).toBeOneOf([503, 'ECONNRESET'])
})
