import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createServer, type Running } from 'pierhead'
import { connect, connectAll, createClient } from '../../src/client.ts'
import { vacantUrl } from '../http-client/peer.ts'
import { createEverything } from './app.ts'
import { all, failure } from './gather.ts'

const FORM = { type: 'object', properties: { name: { type: 'string' } } } as const
let running: Running
beforeAll(async () => {
  running = await createEverything().listen({ http: { port: 0 } })
})
afterAll(() => running.close())

describe('many servers at once', () => {
  test('are called by the name of the server and the name of the tool; one that fails takes none of the others down', async () => {
    const config = {
      mcpServers: {
        web: { type: 'http', url: running.url as string },
        away: { url: await vacantUrl() },
        missing: { command: 'no-such-program-anywhere', args: ['--stdio'] },
      },
    }
    await using group = await connectAll(config)
    expect([...group.clients.keys()]).toEqual(['web'])
    expect([...group.failures.keys()].toSorted()).toEqual(['away', 'missing'])
    expect(group.failures.get('away')).toMatchObject({ kind: 'connect_failed' })
    expect(await group.call('web__echo', { text: 'x' })).toBe('x')
    expect(await failure(group.call('away__echo'))).toBe(group.failures.get('away'))
    const tools = await group.tools().toArray()
    expect(tools).toEqual(await all(group.tools()))
    for (const list of ['resources', 'templates', 'prompts'] as const)
      expect(await group[list]().toArray()).toEqual(await all<object>(group[list]()))
    expect(tools.find(({ name }) => name === 'web__echo')).toMatchObject({ server: 'web' })
  })

  test('are taken from any of the usual files, or a plain record', async () => {
    const entry = { url: running.url as string }
    for (const config of [
      { mcpServers: { a: entry } },
      { servers: { a: entry } },
      { a: entry },
      { a: createEverything() },
    ]) {
      await using group = await connectAll(config)
      expect([...group.clients.keys()]).toEqual(['a'])
      expect(await group.call('a__echo', { text: 'x' })).toBe('x')
    }
  })

  test('keep their order, whichever answered first, and a wrong name is answered with the right one', async () => {
    await using group = await connectAll({ slow: running.url as string, quick: createEverything() })
    expect([...group.clients.keys()]).toEqual(['slow', 'quick'])
    expect(await failure(group.call('quik__echo'))).toMatchObject({
      kind: 'bad_option',
      message: expect.stringContaining('did you mean "quick"?'),
    })
  })

  test('send their own headers', async () => {
    const config = { mcpServers: { web: { url: running.url as string, headers: { 'x-tenant': 'nine' } } } }
    await using group = await connectAll(config)
    expect(await group.call('web__header', { name: 'x-tenant' })).toBe('nine')
  })

  test('leave a server that fails while it is asked out of the list', async () => {
    await using group = await connectAll({ one: createEverything(), two: createEverything() })
    const warnings: string[] = []
    group.clients.get('one')?.on('warning', (text) => warnings.push(text))
    await group.clients.get('one')?.close()
    const servers = new Set((await all(group.tools())).map(({ server }) => server))
    expect([...servers]).toEqual(['two'])
    expect(warnings).toEqual([expect.stringContaining('a list of the group lacks what "one" has')])
  })

  test('have answers of their own, which know the name of the server that asks', async () => {
    const asking = createServer({ name: 'asking', version: '1' }).tool('ask', {}, async (_, ctx) => {
      const form = await ctx.elicit('Who are you?', FORM)
      return `${form.action} ${String(form.content?.['name'])}, ${(await ctx.roots()).length} roots`
    })
    await using group = await connectAll(
      { one: asking, two: asking },
      {
        answers: (server) => ({
          elicit: () => ({ action: 'accept', content: { name: server } }),
          roots: server === 'one' ? [{ uri: 'file:///one' }] : [],
        }),
      },
    )
    expect(await group.call('one__ask')).toBe('accept one, 1 roots')
    expect(await group.call('two__ask')).toBe('accept two, 0 roots')
  })

  test('refuse answers that nobody could give, for whichever server', async () => {
    const answers = (server: string): object => (server === 'two' ? { elict: () => undefined } : {})
    const attempt = connectAll({ one: createEverything(), two: createEverything() }, { answers })
    expect(await failure(attempt)).toMatchObject({
      kind: 'bad_option',
      message: expect.stringContaining('did you mean "elicit"'),
    })
    const broken = (): never => {
      throw new Error('no such user')
    }
    expect(await failure(connectAll({ one: createEverything() }, { answers: broken }))).toMatchObject({
      message: 'no such user',
    })
  })
})

describe('what to connect to', () => {
  test('is refused with a remedy when it is nothing that can be connected to', async () => {
    for (const target of ['ftp://example.com', 'just words', { url: 'nothing' }])
      expect(await failure(connect(target))).toMatchObject({ kind: 'bad_option' })
    expect(() => createClient('http://u:p@127.0.0.1/')).toThrow('credentials')
  })

  test('is opened with options that exist', () => {
    expect(() => createClient(createEverything(), { timout: 5 } as never)).toThrow('did you mean "timeout"?')
    expect(() => createClient(createEverything(), { timeout: 'soon' as never })).toThrow('timeout')
  })

  test('is opened by the first request when it was only named', async () => {
    const client = createClient(running.url as string)
    expect(client.state).toBe('connecting')
    expect(await client.call('echo', { text: 'x' })).toBe('x')
    expect(client.state).toBe('ready')
    await client.close()
  })

  test('may be a URL object, or a server in this process', async () => {
    for (const target of [new URL(running.url as string), createEverything()]) {
      await using client = await connect(target)
      expect((await client.server()).revision).toBe('2026-07-28')
    }
  })
})
