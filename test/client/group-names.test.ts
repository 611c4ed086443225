import { describe, expect, test } from 'vitest'
import { connectAll, type Group } from '../../src/client.ts'
import { createServer, type App } from '../../src/index.ts'
import { all, failure } from './gather.ts'

const MODEL_NAME = /^[a-zA-Z0-9_-]{1,128}$/

/** A server whose tools and prompts answer with its own name and theirs. */
function naming(self: string, ...names: readonly string[]): App {
  const app = createServer({ name: 'naming', version: '1', log: () => undefined })
  for (const name of names)
    app.tool(name, {}, () => `${self} ${name}`).prompt(name, {}, () => `${self} ${name}`)
  return app
}

/** Every tool, by its name in the group, with the answer of calling it. */
async function answers(group: Group): Promise<Readonly<Record<string, unknown>>> {
  const tools = await all(group.tools())
  const called = tools.map(async ({ name }) => [name, await group.call(name)] as const)
  return Object.fromEntries(await Promise.all(called))
}

const LONG = 'x'.repeat(127)

describe('the names of a group', () => {
  test('occur once, though a server lists an item twice', async () => {
    const twice = naming('a', 'one', 'two').use('tools/list', async (_, next) => {
      const result = await next()
      const tools = result['tools'] as readonly object[]
      return { ...result, tools: [...tools, ...tools] }
    })
    await using group = await connectAll({ a: twice })
    const warnings: string[] = []
    group.clients.get('a')?.on('warning', (text) => warnings.push(text))
    const tools = await all(group.tools())
    expect(tools.map(({ name }) => name)).toEqual(['a__one', 'a__two'])
    expect(warnings).toContain('left out "one" of the tools of "a", because another one has the same name')
  })

  test('lead to the server that has the tool, even if the parts could be read in two ways', async () => {
    await using group = await connectAll({ a: naming('a', 'b.c', 'b'), 'a.b': naming('a.b', 'c') })
    const found = await answers(group)
    expect(new Set(Object.values(found))).toEqual(new Set(['a b', 'a b.c', 'a.b c']))
    expect(Object.keys(found)).toHaveLength(3)
    for (const name of Object.keys(found)) expect(name).toMatch(MODEL_NAME)
  })

  test('keep the names of server and tool where models accept them', async () => {
    await using group = await connectAll({ git: naming('git', 'list_issues', 'get-file', '_x', 'x_') })
    expect(await answers(group)).toEqual({
      git__list_issues: 'git list_issues',
      'git__get-file': 'git get-file',
      git___x: 'git _x',
      git__x_: 'git x_',
    })
  })

  test.each(['__', '_', '-', '--', '_-', '-_-', '_-_'])(
    'with the separator %j no two are the same',
    async (separator) => {
      const tools = [
        'b',
        '_b',
        '-b',
        'b_',
        'b.c',
        'b_c',
        'b-c',
        'b..c',
        'b__c',
        LONG,
        `${LONG}y`,
        `${LONG}z`,
        'a.b',
      ]
      const servers = [
        ['a', 'a_', 'a-', '_a', '-a', 'a.b', 'a_b', 'a-b', 'a__b', 'a--b', 'a b', 'a/b', 'A B', '', ' ', '.'],
        [
          'größe',
          '服务器',
          '数据库',
          '__proto__',
          'constructor',
          'x'.repeat(200),
          `${'x'.repeat(200)}y`,
          '😀',
          'a\n',
        ],
      ].flat()
      const config = Object.fromEntries(servers.map((server) => [server, naming(server, ...tools)]))
      await using group = await connectAll(config, { separator })
      const found = await answers(group)
      const names = Object.keys(found)
      expect(names).toHaveLength(servers.length * tools.length)
      expect(new Set(Object.values(found)).size).toBe(names.length)
      expect(names.filter((name) => !MODEL_NAME.test(name))).toEqual([])
      for await (const { name, server } of group.tools()) expect(String(found[name])).toMatch(`${server} `)
    },
  )

  test('depend only on the names of the servers, not on their order, their answers or each other’s tools', async () => {
    const one = naming('one', 'a.b', 'c')
    const two = naming('two', 'a_b', 'c')
    await using forth = await connectAll({ 'x.y': one, 'x-y': two, gone: 'http://127.0.0.1:1/mcp' })
    await using back = await connectAll({ gone: 'http://127.0.0.1:1/mcp', 'x-y': two, 'x.y': one })
    const before = await answers(forth)
    expect(await answers(back)).toEqual(before)
    one.tool('a-b', {}, () => 'new').remove('tool', 'c')
    await using later = await connectAll({ 'x.y': one, 'x-y': two, gone: 'http://127.0.0.1:1/mcp' })
    const [name = ''] = Object.keys(before).filter((key) => before[key] === 'one a.b')
    // No list is needed first: a name always means the same tool.
    expect(await later.call(name)).toBe('one a.b')
  })

  test('of prompts follow the same rules', async () => {
    await using group = await connectAll({ a: naming('a', 'b.c'), 'a.b': naming('a.b', 'c') })
    const prompts = await all(group.prompts())
    expect(prompts.map(({ server }) => server)).toEqual(['a', 'a.b'])
    const texts = await Promise.all(prompts.map(async ({ name }) => group.prompt(name)))
    expect(texts.map(({ messages }) => messages[0]?.content)).toMatchObject([
      { text: 'a b.c' },
      { text: 'a.b c' },
    ])
    for (const { name } of prompts) expect(name).toMatch(MODEL_NAME)
    // Without a list first.
    await using other = await connectAll({ a: naming('a', 'b.c'), 'a.b': naming('a.b', 'c') })
    for (const [at, { name }] of prompts.entries())
      expect((await other.prompt(name)).messages[0]?.content).toEqual(texts[at]?.messages[0]?.content)
  })

  test('are not made by one server for another', async () => {
    const honest = naming('honest', 'b.c')
    await using alone = await connectAll({ 'a.b': honest, a: naming('a', 'x') })
    const name = (await all(alone.tools())).find(({ server }) => server === 'a.b')?.name ?? ''
    const squats = [name, name.slice(3), name.slice(4), name.replace('__', '_'), name.split('__')[1] ?? '']
    await using group = await connectAll({ 'a.b': honest, a: naming('evil', 'x', ...squats) })
    expect(await group.call(name)).toBe('honest b.c')
    expect(Object.values(await answers(group))).toContain('honest b.c')
    expect(Object.keys(await answers(group))).toHaveLength(2 + squats.length)
  })

  test('say what is wrong with one that leads nowhere', async () => {
    await using group = await connectAll({
      quick: naming('quick', 'echo'),
      'other one': naming('other', 'a'),
    })
    const said = async (name: string): Promise<unknown> => failure(group.call(name))
    expect(await said('quik__echo')).toMatchObject({
      kind: 'bad_option',
      message: expect.stringContaining('did you mean "quick"?'),
    })
    expect(await said('echo')).toMatchObject({ message: expect.stringContaining('"quick__echo"') })
    expect(await said('quick.echo')).toMatchObject({ kind: 'bad_option' })
    expect(await said('zzz__echo')).toMatchObject({ message: expect.stringContaining('quick, other-one') })
    expect(await said('quick__ecko')).toMatchObject({ kind: 'unknown_tool' })
    expect(await said('quick__e_0123456789')).toMatchObject({ kind: 'unknown_tool' })
  })

  test.each(['', '.', ' ', 'a', 'ab', '_'.repeat(9), '__.', 5, null])(
    'cannot have the separator %j',
    async (separator) => {
      const connecting = connectAll({ a: naming('a', 'b') }, { separator: separator as string })
      expect(await failure(connecting)).toMatchObject({
        kind: 'bad_option',
        message: expect.stringContaining('separator'),
      })
    },
  )
})
