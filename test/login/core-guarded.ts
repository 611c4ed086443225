import { createServer as createHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { bearer } from '../../src/auth.ts'
import { orAborted } from '../../src/base/backoff.ts'
import { connect, McpError } from '../../src/client.ts'
import { createServer, type App, type ListenOptions } from '../../src/index.ts'
import type { AuthRequest } from '../../src/rpc/client-auth.ts'

export interface Guarded {
  readonly app: App
  /** The address of each transport. */
  readonly http: string
  readonly ws: string
  /** The tokens that it accepts. Verified ones are remembered for a while. */
  readonly valid: Set<string>
}

/** A server on real ports that accepts some tokens; their callers are what comes before the dash. */
export async function guarded(options: ListenOptions = { http: { port: 0 } }): Promise<Guarded> {
  const valid = new Set(['good'])
  const app = createServer({
    name: 'guarded',
    version: '1',
    ttl: '1h',
    log: () => undefined,
    auth: bearer((token) => (valid.has(token) ? { sub: token.split('-')[0] as string } : undefined)),
  })
    .tool('who', {}, (_, { auth }) => auth?.sub ?? 'nobody')
    .resource('note://mine', {}, (_, { auth }) => `of ${auth?.sub}`)
  const { addresses, close } = await app.listen({ onUncaught: 'exit', ...options })
  onTestFinished(close)
  const { http = '', ws = '' } = addresses
  return { app: app as unknown as App, http, ws, valid }
}

/** Times that are shorter than the login of a person takes in these tests. */
export const SHORT = { timeout: '800ms', total: '1200ms' } as const

/**
 * A person who logs in for longer than `SHORT` allows: until a connection that is opened now, to a server that never replies, has timed out. The clock of the
 * request is stopped meanwhile, or not.
 */
export async function logInSlowly(request: AuthRequest, pauses = true): Promise<string> {
  const resume = pauses ? request.pause?.() : undefined
  const silent = createHttp(() => undefined)
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const timeout = SHORT.total
  const outlasted = failure(connect(`http://127.0.0.1:${port}/mcp`, { timeout, total: timeout }))
  try {
    expect(await orAborted(outlasted, request.signal)).toMatchObject({ kind: 'timeout' })
  } finally {
    resume?.()
    silent.closeAllConnections()
    silent.close()
  }
  return 'good'
}

/** The error that something rejects with. */
export async function failure(work: Promise<unknown>): Promise<McpError> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(McpError)
  return error as McpError
}
