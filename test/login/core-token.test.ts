import { expect, test } from 'vitest'
import { token } from '../../src/auth-client.ts'
import { connect } from '../../src/client.ts'
import { failure, guarded } from './core-guarded.ts'

test.each(['http', 'ws'] as const)(
  'a token of the program works over %s, and is asked for again',
  async (transport) => {
    const server = await guarded({ [transport]: { port: 0 } })
    let asked = 0
    const auth = token(() => (++asked === 1 ? 'old' : 'good'))
    await using client = await connect(server[transport], { auth })
    expect(await client.call('who')).toBe('good')
    const error = await failure(connect(server[transport], { auth: token(() => 'bad') }))
    expect(error.data).toMatchObject({ status: 401 })
    expect(error.message).not.toContain('bad')
  },
)

test('results of a former user are not answered from the cache, and those of the same user are', async () => {
  const { http: url, valid } = await guarded()
  valid.add('anna-1')
  let current = 'good'
  const reads: string[] = []
  const fetching: typeof fetch = (input, init) => {
    if (typeof init?.body === 'string' && init.body.includes('resources/')) reads.push(current)
    return fetch(input, init)
  }
  await using client = await connect(url, { auth: token(() => current), fetch: fetching })
  const read = async (): Promise<unknown> => (await client.read('note://mine')).contents[0]
  for (const _ of [1, 2]) expect(await read()).toMatchObject({ text: 'of good' })
  current = 'anna-1'
  for (const _ of [1, 2]) expect(await read()).toMatchObject({ text: 'of anna' })
  current = 'good'
  expect(await read()).toMatchObject({ text: 'of good' })
  expect(reads).toEqual(['good', 'anna-1', 'good'])
})

test('a token that never comes does not hold up a request with a cached result', async () => {
  const { http: url } = await guarded()
  let given: string | Promise<string> = 'good'
  await using client = await connect(url, { auth: token(() => given) })
  await client.read('note://mine')
  given = new Promise<never>(() => undefined)
  const error = await failure(client.read('note://mine', { timeout: 100 }))
  expect(error).toMatchObject({ kind: 'timeout' })
  given = 'good'
})
