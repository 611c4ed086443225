import { expect, onTestFinished, test } from 'vitest'
import { Deferred } from '../../src/base/deferred.ts'
import { serviceOf } from '../../src/app/app.ts'
import { createServer, type App } from '../../src/index.ts'
import { budgetsOf } from '../../src/transport/io/budgets.ts'
import { BOTH, initialize } from '../http/messages.ts'
import { Raw, send } from '../http/wire.ts'

const limits = { unparsedBytes: 4_000_000, httpBytes: 1_000_000, bodyMs: 600_000 }

function server(): App {
  return createServer({ name: 'stalled', version: '1', log: () => undefined, limits })
}

const held = (app: App): number => budgetsOf(serviceOf(app), app.limits).read.total
const padded = (bytes: number): string => initialize() + ' '.repeat(bytes - initialize().length)

test('limits.unparsedBytes uploads that stall do not shut out others through app.fetch', async () => {
  const app = server()
  const ask = async (body: unknown): Promise<number> => {
    const init = { method: 'POST', headers: BOTH, body, duplex: 'half' } as RequestInit
    return (await app.fetch(new Request('http://localhost/mcp', init))).status
  }
  // All but the last fifty bytes.
  const sizes = [700_000, 700_000, 700_000, 700_000, 700_000, 499_950]
  const isRead = sizes.map((size) => {
    const { promise, resolve } = new Deferred<void>()
    let isSent = false
    const pull = (stream: ReadableStreamDefaultController<Uint8Array>): void => {
      if (isSent) return resolve()
      isSent = true
      stream.enqueue(new Uint8Array(size).fill(32))
    }
    void ask(new ReadableStream({ pull, cancel: () => resolve() }, { highWaterMark: 0 }))
    return promise
  })
  await Promise.all(isRead)
  expect(held(app)).toBeGreaterThan(limits.unparsedBytes / 2)
  expect([await ask(initialize()), await ask(padded(100_000))]).toEqual([200, 200])
})

test('limits.unparsedBytes uploads of one address that stall do not delay large messages of others', async () => {
  const app = server()
  const running = await app.listen({ http: { port: 0, trustProxy: true } })
  onTestFinished(() => running.close())
  const port = Number(new URL(running.addresses.http as string).port)
  const from = (ip: string) => ({ ...BOTH, host: 'localhost', 'x-forwarded-for': ip })
  const head = Object.entries({ ...from('192.0.2.1'), 'content-length': 900_000 })
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  for (let each = 0; each < 5; each++) {
    const raw = new Raw(port).write(`POST /mcp HTTP/1.1\r\n${lines}\r\n`)
    onTestFinished(() => raw.destroy())
    raw.write(' '.repeat(700_000))
  }
  await expect.poll(() => held(app)).toBeGreaterThan(limits.unparsedBytes / 2)
  const reply = await send(port, { body: padded(150_000), headers: from('192.0.2.2') })
  expect(reply.status).toBe(200)
  expect(app.counts.get('slow_sender')).toBeUndefined()
  // Those of the same address wait only until the stalled ones are given up.
  const late = await send(port, { body: padded(150_000), headers: from('192.0.2.1') })
  expect(late.status).toBe(200)
  expect(app.counts.get('slow_sender')).toBeGreaterThan(0)
})
