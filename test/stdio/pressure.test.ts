import { expect, test } from 'vitest'
import { call, message } from '../http/messages.ts'
import { opened, type Child } from './child.ts'

const settle = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Waits until the server is idle, for example because its reader is not reading. */
async function expectIdle(child: Child): Promise<void> {
  const busy = async (): Promise<number> => {
    const before = child.ticks
    await settle(300)
    return child.ticks - before
  }
  await expect.poll(busy).toBeLessThan(5)
}

test('L.unread twenty thousand requests with unread responses are not held in memory, and all answered later', async () => {
  const child = await opened()
  child.process.stdout.pause()
  const text = 'x'.repeat(5000)
  const requests = Array.from({ length: 20_000 }, (_, at) => call('echo', { text }, at + 10))
  child.send(...requests)
  await expectIdle(child)
  expect(child.memory).toBeLessThan(250_000_000)
  child.process.stdout.resume()
  await child.until(({ lines }) => lines.length === 20_001)
  expect(child.lines.at(-1)).toContain('"id":20009,')
})

test('L.unread-progress unread progress is thinned out, the response is not', async () => {
  const child = await opened()
  child.process.stdout.pause()
  child.send(call('flood', { count: 20_000 }, 5, { progressToken: 1 }))
  await expectIdle(child)
  expect(child.memory).toBeLessThan(250_000_000)
  child.process.stdout.resume()
  child.send(message('ping', {}, 6))
  expect(await child.reply(5)).toMatchObject({ result: { content: [{ text: 'flooded' }] } })
  expect(child.lines.length).toBeLessThan(20_000)
})

test('L.unread-end a server whose responses are not read still exits on request [F21]', async () => {
  const child = await opened()
  child.process.stdout.pause()
  child.send(...Array.from({ length: 200 }, (_, at) => call('echo', { text: 'x'.repeat(20_000) }, at + 10)))
  await expectIdle(child)
  child.process.kill('SIGTERM')
  const left = new Promise((resolve) => child.process.once('exit', resolve))
  expect(await left).toBe(0)
})
