import { expect, test } from 'vitest'
import { connect, createClient } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { createEverything } from './app.ts'
import { all, failure } from './gather.ts'
import { scenario } from './scenario.ts'

scenario(
  'middleware wraps requests, the first added outermost, all or those of one method',
  async (_, { join }) => {
    const client = await join()
    const seen: string[] = []
    client.use(async ({ method }, next) => {
      seen.push(`all ${method}`)
      const result = await next()
      seen.push('all done')
      return result
    })
    client.use('tools/call', async (_request, next) => {
      seen.push('call')
      return next()
    })
    await client.call('echo', { text: 'x' })
    await client.prompt('greet', { name: 'Zoe' })
    expect(seen).toEqual(['all tools/call', 'call', 'all done', 'all prompts/get', 'all done'])
  },
)

scenario(
  'middleware may change the params, the options and the result, or answer itself',
  async (_, { join }) => {
    const client = await join()
    client.use('tools/call', async ({ params }, next) => {
      if (params['name'] === 'cached') return { content: [{ type: 'text', text: 'from here' }] }
      const changed = { ...params, arguments: { text: 'changed' } }
      const result = await next({ params: changed, options: { timeout: '5s' } })
      return {
        ...result,
        content: [...(result['content'] as readonly unknown[]), { type: 'text', text: 'more' }],
      }
    })
    expect(await client.call('cached')).toBe('from here')
    expect(await client.call('echo', { text: 'x' })).toEqual([
      { type: 'text', text: 'changed' },
      { type: 'text', text: 'more' },
    ])
  },
)

scenario('no call goes out before somebody agreed [S4-7-1] [S4-7-3]', async (_, { join }) => {
  const client = await join()
  const asked: unknown[] = []
  client.use('tools/call', ({ params }, next) => {
    asked.push(params['name'])
    if (params['name'] === 'grow') throw new Error('the user said no')
    return next()
  })
  const before = await all(client.tools())
  expect(await failure(client.call('grow'))).toMatchObject({ message: 'the user said no' })
  expect(await all((await join()).tools())).toEqual(before)
  expect(await client.call('echo', { text: 'x' })).toBe('x')
  expect(asked).toEqual(['grow', 'echo'])
})

test('anything but middleware is rejected when it is added', async () => {
  const client = createClient(createEverything())
  expect(() => client.use('tools/call', 'no function' as never)).toThrow('the middleware is not a function')
  expect(() => client.use({ clientMidleware: () => ({}) } as never)).toThrow(
    'there is no option "clientMidleware"; did you mean "clientMiddleware"?',
  )
  await client.close()
})

test('cached results are those of requests as the middleware sends them, so that no user gets those of another', async () => {
  const app = createServer({ name: 'users', version: '1', ttl: '1m' })
    .resource('user://me', {}, (_, { params }) => {
      const { user = 'nobody' } = (params['_meta'] ?? {}) as { readonly user?: string }
      return { contents: [{ uri: 'user://me', text: user }], ttlMs: 60_000 }
    })
    .resource('user://{name}', {}, ({ name }) => ({
      contents: [{ uri: `user://${name}`, text: name }],
      ttlMs: 60_000,
    }))
  await using client = await connect(app)
  let user: string | undefined
  let other: string | undefined
  let passed = 0
  client.use('resources/read', ({ params, options }, next) => {
    passed++
    return next({
      params: other === undefined ? params : { ...params, uri: `user://${other}` },
      options: user === undefined ? options : { ...options, meta: { user } },
    })
  })
  const read = async (): Promise<unknown> => {
    const { contents } = await client.read('user://me')
    return (contents[0] as { readonly text?: string }).text
  }
  expect(await read()).toBe('nobody')
  user = 'ann'
  expect(await read()).toBe('ann')
  user = 'bob'
  expect(await read()).toBe('bob')
  user = undefined
  expect(await read()).toBe('nobody')
  other = 'cleo'
  expect(await read()).toBe('cleo')
  other = undefined
  expect(await read()).toBe('nobody')
  expect(passed).toBe(6)
})
