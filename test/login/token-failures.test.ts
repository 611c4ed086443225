import { expect, onTestFinished, test } from 'vitest'
import { token } from '../../src/auth-client.ts'
import { connect, type McpError } from '../../src/client.ts'
import type { ClientAuth } from '../../src/rpc/client-auth.ts'
import { relay } from '../ws/relay.ts'
import { failure, guarded } from './core-guarded.ts'

/** What a function does that does not give a token. */
const FAILURES: readonly (readonly [string, () => unknown])[] = [
  [
    'throws',
    () => {
      throw new TypeError('session is undefined')
    },
  ],
  ['rejects', () => Promise.reject(new Error('the session is over'))],
  ['rejects with nothing', () => Promise.reject(undefined as unknown as Error)],
  ['returns nonsense', () => ({ not: 'a token' })],
]

/** Notes rejections that nobody handles, which would end a program, for one test. */
function watchUnhandled(): readonly unknown[] {
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  return unhandled
}

interface Brittle {
  readonly auth: ClientAuth
  isBroken: boolean
  /** How often the function failed. */
  failed: number
}

/** A method whose function gives a good token until it breaks. */
function brittle(fail: () => unknown): Brittle {
  const give = (): unknown => {
    if (!state.isBroken) return 'good'
    state.failed++
    return fail()
  }
  const state: Brittle = { auth: token(() => give() as string), isBroken: false, failed: 0 }
  return state
}

function expectClear(error: McpError): void {
  expect(error.kind).toBe('login_failed')
  expect(error.message).toContain('the function of token()')
}

test.each(FAILURES)('a function that %s fails the call over HTTP with a clear error', async (_, fail) => {
  const { http } = await guarded()
  const method = brittle(fail)
  await using client = await connect(http, { auth: method.auth })
  method.isBroken = true
  expectClear(await failure(client.call('who')))
  method.isBroken = false
  expect(await client.call('who')).toBe('good')
})

test.each(FAILURES)(
  'a function that %s while a WebSocket resumes does not end the process',
  async (_, fail) => {
    const unhandled = watchUnhandled()
    const { ws } = await guarded({ ws: { port: 0 } })
    const way = await relay(Number(new URL(ws).port))
    const method = brittle(fail)
    await using client = await connect(way.url, { auth: method.auth })
    expect(await client.call('who')).toBe('good')
    method.isBroken = true
    way.cut()
    await expect.poll(() => method.failed).toBeGreaterThan(0)
    expectClear(await failure(client.call('who')))
    expect(unhandled).toEqual([])
    method.isBroken = false
    expect(await client.call('who')).toBe('good')
  },
)

test.each(FAILURES)(
  'a function that %s for the stream of notifications does not end the process',
  async (_, fail) => {
    const unhandled = watchUnhandled()
    const { http } = await guarded()
    const method = brittle(fail)
    let streams = 0
    const auth: ClientAuth = {
      ...method.auth,
      open(server) {
        const opened = method.auth.open(server)
        return {
          async attempt(request, send) {
            // Only the stream gets no token.
            method.isBroken = request.verb === 'GET'
            if (method.isBroken) streams++
            return opened.attempt(request, send)
          },
        }
      },
    }
    await using client = await connect(http, { revision: '2025-06-18', auth })
    expect(await client.call('who')).toBe('good')
    await expect.poll(() => streams).toBeGreaterThan(0)
    expect(await client.call('who')).toBe('good')
    expect(unhandled).toEqual([])
  },
)
