import { expect, test } from 'vitest'
import { connect, createClient } from '../../src/client.ts'
import { testAuth, type TestAuth } from './core-auth.ts'
import { failure, guarded, logInSlowly, SHORT } from './core-guarded.ts'

/** A person who takes a while to log in, with the clock stopped or not. */
function slowly(first: string | undefined, pauses = true): TestAuth {
  return testAuth(first, (request) => logInSlowly(request, pauses))
}

test.each(['2025-11-25', '2026-07-28'] as const)(
  'a login takes none of the time for connecting at %s',
  async (revision) => {
    const { http } = await guarded()
    await using client = await connect(http, { auth: slowly(undefined), revision, ...SHORT })
    expect(await client.call('who')).toBe('good')
    const impatient = connect(http, { auth: slowly(undefined, false), revision, ...SHORT })
    expect(await failure(impatient)).toMatchObject({ kind: 'timeout' })
  },
)

test('a login takes no time of the requests that wait for the connection', async () => {
  const { http } = await guarded()
  const auth = slowly(undefined)
  await using client = createClient(http, { auth, ...SHORT })
  const calls = [1, 2, 3].map(() => client.call('who'))
  await expect.poll(() => auth.asked.renewals).toBe(1)
  const late = [client.call('who'), client.tools().toArray()]
  expect(await Promise.all(calls)).toEqual(['good', 'good', 'good'])
  expect(await Promise.all(late)).toEqual(['good', [expect.objectContaining({ name: 'who' })]])
  expect(auth.asked.renewals).toBe(1)
})

test('a login in the middle of a call takes none of its time, and other calls time out as ever', async () => {
  const { http, app } = await guarded()
  app.tool('hang', {}, (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)))
  const auth = slowly('other')
  await using client = await connect(http, { auth: testAuth('good'), ...SHORT })
  let isLoggedIn = false
  const call = client.call('who', {}, { auth }).finally(() => (isLoggedIn = true))
  expect(await failure(client.call('hang'))).toMatchObject({ kind: 'timeout' })
  expect(isLoggedIn).toBe(false)
  expect(await call).toBe('good')
})

test('the requests of one operation share the time that is left after a login', async () => {
  const { http } = await guarded()
  const auth = slowly('other')
  await using client = await connect(http, { auth: testAuth('good'), ...SHORT })
  // Listing again and the call are parts of one operation.
  const [tool] = await client.tools({ auth }).toArray()
  expect(tool?.name).toBe('who')
  expect(await client.call('who', {}, { auth })).toBe('good')
  await client.ping({ auth: slowly('other') })
})

test('while a login runs, the caller can still stop waiting', async () => {
  const { http } = await guarded()
  const auth = slowly(undefined)
  const controller = new AbortController()
  await using client = createClient(http, { auth, ...SHORT })
  const call = failure(client.call('who', {}, { signal: controller.signal }))
  await expect.poll(() => auth.asked.renewals).toBe(1)
  controller.abort()
  expect(await call).toMatchObject({ kind: 'cancelled' })
})
