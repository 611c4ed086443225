import { expect, test } from 'vitest'
import { connect, refusalOf, type McpError } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import { Gate } from '../http/server.ts'

/** The number of the refusal of a call while another runs. */
async function refusedWith(limits: Partial<Limits>, isClosing = false): Promise<unknown> {
  const gate = new Gate()
  const app = createServer({ name: 'busy', version: '1', limits, log: () => undefined }).tool(
    'wait',
    {},
    async () => {
      gate.enter()
      await gate.opened
      return 'waited'
    },
  )
  const running = await app.listen({ tcp: { port: 0 } })
  const client = await connect(running.addresses.tcp as string, { recovery: false })
  const first = client.call('wait')
  await gate.entered
  const closed = isClosing ? running.close() : undefined
  const error = await client.call('wait').catch((thrown: unknown) => thrown)
  gate.open()
  await first
  await client.close()
  await (closed ?? running.close())
  return refusalOf(error as McpError)?.code
}

test('a server refuses for the caller first, then for itself, and before both when it ends', async () => {
  expect(await refusedWith({ inFlight: 2, allInFlight: 1, queued: 0 })).toBe(1005)
  expect(await refusedWith({ inFlight: 1, allInFlight: 1, queued: 0 })).toBe(1060)
  expect(await refusedWith({ inFlight: 1, allInFlight: 1, queued: 0 }, true)).toBe(1077)
})

test('a request that may wait is refused when its time is up', async () => {
  expect(await refusedWith({ allInFlight: 1, queued: 1, waitMs: 50 })).toBe(1005)
})
