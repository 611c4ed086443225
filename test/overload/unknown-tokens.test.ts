import { expect, onTestFinished, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { bearer } from '../../src/auth.ts'
import { createServer } from '../../src/index.ts'
import { budgetsOf } from '../../src/transport/io/budgets.ts'
import { until } from '../hostile/peer.ts'
import { headed } from '../http/messages.ts'
import { Gate } from '../http/server.ts'
import { send, type Received } from '../http/wire.ts'

/** A server that verifies tokens when a gate opens. */
async function target(limits: object = {}): Promise<{
  readonly gate: Gate
  readonly asked: string[]
  readonly held: () => number
  readonly as: (token: string) => Promise<Received>
}> {
  const gate = new Gate()
  const asked: string[] = []
  const verify = async (token: string): Promise<{ sub: string }> => {
    asked.push(token)
    await gate.opened
    return { sub: token }
  }
  const app = createServer({ name: 'target', version: '1', limits, log: () => undefined }).tool(
    'echo',
    {},
    () => 'x',
  )
  const running = await app.listen({ http: { port: 0, auth: bearer(verify) } })
  onTestFinished(() => running.close())
  const port = Number(new URL(running.url as string).port)
  const { body, headers } = headed('tools/call', { name: 'echo', arguments: {} })
  return {
    gate,
    asked,
    held: () => budgetsOf(serviceOf(app), app.limits).read.total,
    as: (token) => send(port, { body, headers: { ...headers, authorization: `Bearer ${token}` } }),
  }
}

test('requests that wait for one token share its verification, and too many of them are rejected', async () => {
  const { gate, asked, as } = await target({ waitMs: 60_000 })
  const replies: Received[] = []
  const all = Array.from({ length: 1100 }, async () => void replies.push(await as('one')))
  await until(() => replies.length === 1100 - 1024, 20_000)
  expect(replies.map(({ status, headers }) => [status, headers['retry-after']])).toEqual(
    Array.from({ length: 76 }, () => [503, '5']),
  )
  gate.open()
  await Promise.all(all)
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1024)
  expect(asked).toEqual(['one'])
})

test('requests that wait for an unknown token count as bytes being read, and are rejected when these are too many', async () => {
  const { gate, held, as } = await target({ unparsedBytes: 100_000 })
  const replies: Received[] = []
  const all = Array.from({ length: 20 }, async (_, at) => void replies.push(await as(`token-${at}`)))
  await until(() => replies.length > 0 && held() > 80_000, 10_000)
  expect(held()).toBeLessThan(100_000)
  expect(replies.every(({ status }) => status === 429)).toBe(true)
  gate.open()
  await Promise.all(all)
  expect(replies.filter(({ status }) => status === 200).length).toBeGreaterThan(5)
  expect(held()).toBe(0)
})
