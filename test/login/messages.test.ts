import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fileVault } from '../../src/auth-client.ts'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { failure } from './core-guarded.ts'
import { logIn } from './engine-issuer.ts'
import { startWorld } from './engine-world.ts'

test('storedOnly with the path of another file names it, and creates nothing', async () => {
  const world = await startWorld()
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-messages-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'typo', 'vault.json')
  const error = await world.fail('who', { vault: fileVault({ path }), storedOnly: true })
  expect(error).toMatchObject({ kind: 'login_needed', data: { reason: 'no_login' } })
  expect(error.message).toContain(path)
  expect(existsSync(join(folder, 'typo'))).toBe(false)
})

test.each([
  ['on the page', (page: URL) => logIn(page, false)],
  ['in the program', () => Promise.reject(new Error('no thanks'))],
])('a user who refuses the login %s has nothing to correct', async (_, open) => {
  const world = await startWorld()
  const error = await world.fail('who', { open })
  expect(error).toMatchObject({ kind: 'login_failed', retryable: false })
  expect(error.hint).toContain('did not want')
  expect(error.hint).not.toContain('Correct')
})

test('a client that wants 2026-07-28 from /sse learns what is served there, and where to go', async () => {
  const app = createServer({ name: 'notes', version: '1.0.0', log: () => undefined })
  const running = await app.listen({ onUncaught: 'exit', http: { port: 0, path: '/notes', sse: true } })
  onTestFinished(() => running.close())
  const sse = running.addresses.sse as string
  expect(sse).toBe(running.url?.replace('/notes', '/sse'))
  const error = await failure(connect(sse, { revision: '2026-07-28' }))
  expect(error.message).toContain('HTTP+SSE, which has no 2026-07-28')
  expect(error.message).toContain('/notes')
  const reply = await fetch(sse, { method: 'POST', body: '{}' })
  expect({ status: reply.status, allow: reply.headers.get('allow') }).toEqual({
    status: 405,
    allow: 'GET, OPTIONS',
  })
  await using client = await connect(sse)
  expect(await client.ping()).toBe(undefined)
})

test('a listener without HTTP+SSE has no address for it', async () => {
  const app = createServer({ name: 'notes', version: '1.0.0', log: () => undefined })
  const running = await app.listen({ onUncaught: 'exit', http: { port: 0 }, ws: true })
  onTestFinished(() => running.close())
  expect(Object.keys(running.addresses)).toEqual(['http', 'ws'])
})
