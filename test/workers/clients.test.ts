import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import { checkAll, WAYS } from '../interop/ways.ts'
import { RoundRobin } from '../nodes/proxy.ts'
import { start } from './start.ts'

const REVISIONS: readonly Revision[] = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']
const FLAGS = ['--import', 'tsx', '--conditions=pierhead-source']

/** Each request gets a connection of its own, which the parent gives to the next process. */
describe('official clients and two processes, with each request at the next one', () => {
  let child: ChildProcess
  let proxy: RoundRobin
  beforeAll(async () => {
    const file = fileURLToPath(new URL('interop-server.ts', import.meta.url))
    child = spawn(process.execPath, [...FLAGS, file], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [url] = (await once(createInterface({ input: child.stdout as never }), 'line')) as [string]
    proxy = await new RoundRobin([Number(new URL(url).port)]).listen()
  })
  afterAll(async () => {
    await proxy.close()
    child.kill()
    await once(child, 'exit')
  })

  // These look at variables of the server or change its definitions, which each process has for itself.
  const ALONE =
    /^(hears of progress|hears of no progress|cancels a call|has a hundred calls|hears that lists changed|answers one question after another)/
  checkAll(
    () => proxy.url,
    WAYS,
    ({ title }) => !ALONE.test(title),
  )
})

test.each(REVISIONS)('our client at %s uses several processes as one server', async (revision) => {
  const many = await start({ workers: 2 })
  const proxy = await new RoundRobin([many.port]).listen()
  const answers = { elicit: () => ({ action: 'accept' as const, content: { name: 'Ann' } }) }
  const client = await connect(proxy.url, { revision, answers })
  onTestFinished(async () => {
    await client.close()
    await proxy.close()
  })
  const pids = new Set<unknown>()
  for (let round = 0; round < 6; round++) pids.add(await client.call('who'))
  expect(pids).toEqual(new Set(many.pids.map(String)))
  const asked = revision >= '2025-06-18' ? 3 : 0
  for (let round = 0; round < asked; round++) expect(await client.call('ask')).toBe('Hello, Ann!')
  const steps: unknown[] = []
  await client.call('slow', { ms: 10 }, { onProgress: ({ progress }) => void steps.push(progress) })
  expect(steps).toEqual([1])
  let heard = 0
  await client.subscribe('note://a', () => void heard++)
  for (let round = 1; round <= 3; round++) {
    await client.call('touch')
    await expect.poll(() => heard).toBe(round)
  }
})
