import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { health, type HealthOptions } from '../../src/extensions.ts'
import { scenario } from '../harness/scenario.ts'
import { joinWith } from './declare.ts'

const ID = 'dev.pierhead/health'
const STATUS = `${ID}/status`

function createHealthy(options?: HealthOptions) {
  return createServer({ name: 'healthy', version: '1' }).extend(health(options))
}

scenario(
  'a server tells how it is: the worst of its checks, how long it is up and how much it does [S2-9.4-11]',
  () =>
    createHealthy({
      checks: {
        disk: () => undefined,
        cache: () => ({ status: 'degraded', message: 'half full' }),
        queue: async () => true,
        lamp: () => 'ok',
      },
    }),
  async (_official, revision, stage) => {
    const client = await joinWith(stage, revision, ID)
    expect(await client.get(STATUS)).toEqual({
      status: 'degraded',
      checks: {
        disk: { status: 'ok', ms: expect.any(Number) },
        cache: { status: 'degraded', message: 'half full', ms: expect.any(Number) },
        queue: { status: 'ok', ms: expect.any(Number) },
        lamp: { status: 'ok', ms: expect.any(Number) },
      },
      uptimeMs: expect.any(Number),
      running: 0,
    })
  },
)

scenario(
  'without checks a server that answers is well [S2-9.4-11]',
  () => createServer({ name: 'plain', version: '1' }).extend(health),
  async (_official, revision, stage) => {
    const client = await joinWith(stage, revision, ID)
    expect(await client.get(STATUS)).toMatchObject({ status: 'ok', checks: {} })
  },
)

test('a check that throws is unhealthy, and why stays here', async () => {
  const app = createHealthy({ checks: { db: () => Promise.reject(new Error('password wrong')) } })
  const client = await connect(app, { extensions: [health] })
  const found = await health.of(client).status()
  expect(found).toMatchObject({ status: 'unhealthy', checks: { db: { message: 'it failed' } } })
  expect(JSON.stringify(found)).not.toContain('password')
  await client.close()
})

test('a check that hangs times out, is aborted, and is not started again while it hangs', async () => {
  let begun = 0
  let stopped = 0
  const release: (() => void)[] = []
  const app = createHealthy({
    timeout: '20ms',
    checks: {
      slow: (signal) => {
        begun++
        signal.addEventListener('abort', () => stopped++)
        return new Promise<void>((resolve) => release.push(resolve))
      },
    },
  })
  const client = await connect(app, { extensions: [health] })
  const api = health.of(client)
  const late = { status: 'unhealthy', checks: { slow: { message: 'it took longer than 20 ms' } } }
  expect(await api.status()).toMatchObject(late)
  expect(await api.status()).toMatchObject({
    checks: { slow: { status: 'unhealthy', message: 'the previous run has not finished' } },
  })
  expect([begun, stopped]).toEqual([1, 1])
  release[0]?.()
  await new Promise((resolve) => setImmediate(resolve))
  expect(await api.status()).toMatchObject(late)
  expect(begun).toBe(2)
  release[1]?.()
  await client.close()
})

test('concurrent callers share one run of the checks', async () => {
  let begun = 0
  const app = createHealthy({
    checks: {
      db: async () => {
        begun++
        await new Promise((resolve) => setTimeout(resolve, 5))
      },
    },
  })
  const client = await connect(app, { extensions: [health] })
  const api = health.of(client)
  const found = await Promise.all(Array.from({ length: 50 }, () => api.status()))
  expect(found.every(({ status }) => status === 'ok')).toBe(true)
  expect(begun).toBe(1)
  await client.close()
})

test('a check that returns false or an invalid result is unhealthy, and anything but a function is rejected', async () => {
  const app = createHealthy({
    checks: { odd: () => 'fine' as never, nil: () => null as never, no: async () => false },
  })
  const client = await connect(app, { extensions: [health] })
  expect(await health.of(client).status()).toMatchObject({
    checks: {
      odd: { status: 'unhealthy', message: 'it gave no verdict' },
      nil: { status: 'unhealthy', message: 'it gave no verdict' },
      no: { status: 'unhealthy' },
    },
  })
  await client.close()
  expect(() => createHealthy({ checks: { db: true as never } })).toThrow('the check "db" is not a function')
  expect(() => createHealthy({ check: {} } as never)).toThrow('did you mean "checks"')
})
