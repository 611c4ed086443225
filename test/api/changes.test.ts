import { expect, test, vi } from 'vitest'
import { apps, Apps } from '../../src/extensions.ts'
import { serviceOf } from '../../src/app/app.ts'
import { createServer, type App } from '../../src/index.ts'
import { official } from '../../src/profiles.ts'
import { testClient } from '../../src/testing.ts'
import { namesOf, open } from './observed.ts'

function make(): App {
  return createServer({ name: 'changes', version: '1', log: () => undefined })
    .tool('search', {}, () => 'found')
    .resource('notes://all', {}, () => 'all')
    .resource('notes://by/{id}', {}, ({ id }) => id)
    .prompt('triage', { args: { type: 'object', properties: { id: { type: 'string' } } } }, () => 'x')
}

test.each<readonly [string, (app: App) => unknown, string]>([
  [
    'a tool',
    (app) => app.update('tool', 'serach', {}),
    'update: there is no tool "serach"; did you mean "search"?',
  ],
  [
    'a resource',
    (app) => app.enable('resource', 'notes://al'),
    'enable: there is no resource "notes://al"; did you',
  ],
  ['a template', (app) => app.disable('resource', 'notes://by/{di}'), 'did you mean "notes://by/{id}"?'],
  [
    'no name like it',
    (app) => app.disable('prompt', 'else'),
    'there is no prompt "else"; add it with app.prompt first',
  ],
  [
    'a kind',
    (app) => app.enable('tools' as never, 'search'),
    'the first argument must be "tool", "resource" or "prompt"',
  ],
  [
    'a name of objects',
    (app) => app.disable('constructor' as never, 'search'),
    'the first argument must be "tool"',
  ],
  [
    'a list',
    (app) => app.changed('tool' as never),
    'changed: there is no list "tool"; did you mean "tools"?',
  ],
  [
    'options',
    (app) => app.update('tool', 'search', (() => 1) as never),
    "update('tool', 'search', { … }, handler)",
  ],
  [
    'options',
    (app) => app.update('tool', 'search', undefined as never),
    'an object with the options to change',
  ],
  ['an option', (app) => app.update('tool', 'search', { titel: 'x' } as never), 'did you mean "title"?'],
  [
    'a foreign name',
    (app) => app.update('tool', 'search', { inputSchema: {} } as never),
    'did you mean "input"?',
  ],
  [
    'a new name',
    (app) => app.update('tool', 'search', { name: 'find' } as never),
    'there is no option "name"',
  ],
  [
    'a list without variables',
    (app) => app.update('resource', 'notes://all', { list: () => [] }),
    'URIs with variables',
  ],
  [
    'a list that is none',
    (app) => app.update('resource', 'notes://by/{id}', { list: [] as never }),
    'must be a function',
  ],
])('%s that is wrong in a change gets an error that says what to write', (_, act, words) => {
  expect(() => act(make())).toThrow(words)
})

test('a disabled item keeps its name, can be removed, and gets completers', () => {
  const app = make().disable('tool', 'search').disable('prompt', 'triage').disable('resource', 'notes://all')
  expect(() => app.tool('search', {}, () => 1)).toThrow(
    'tool "search": it already exists; change it with app.update',
  )
  expect(() => app.resource('notes://all', {}, () => 1)).toThrow(
    'it already exists; change it with app.update',
  )
  expect(() => app.complete('triage', 'id', () => ['7'])).not.toThrow()
  expect([app.remove('tool', 'search'), app.remove('tool', 'search')]).toEqual([true, false])
  expect(() => app.enable('tool', 'search')).toThrow('there is no tool "search"')
  expect(() => app.tool('search', {}, () => 1)).not.toThrow()
})

test('a profile and header rules check an update as they check a definition', async () => {
  const profile = official.with({ strictShapes: true })
  const app = createServer({ name: 'strict', version: '1', profile, log: () => undefined })
  app.tool('one', { description: 'first' }, () => 1)
  expect(() => app.update('tool', 'one', { description: undefined })).toThrow('it needs a description')
  const region = { type: 'object', 'x-mcp-header': 'Region' } as const
  const input = { type: 'object', properties: { region } } as const
  expect(() => app.update('tool', 'one', { input })).toThrow('tool "one"')
  const client = await open(app, 'memory')
  expect(await client.request('tools/list', {})).toMatchObject({ tools: [{ description: 'first' }] })
})

test('a plug-in hides what is updated or enabled after it was added', async () => {
  const app = make().disable('prompt', 'triage')
  app.use({ visible: ({ key }) => key === 'notes://all' })
  app.update('tool', 'search', { title: 'Search' }).enable('prompt', 'triage')
  const client = await open(app, 'memory')
  expect(await namesOf(client.tools())).toEqual([])
  expect(await namesOf(client.prompts())).toEqual([])
  expect(await namesOf(client.resources())).toEqual(['all'])
})

test('the tools of a stopped app stay hidden when they are changed, and are there when it runs', async () => {
  const registry = new Apps([{ name: 'reports', tools: ['report', 'off'] }])
  const app = createServer({ name: 'apps', version: '1' })
    .tool('report', {}, () => 1)
    .tool('off', {}, () => 1)
    .tool('other', {}, () => 1)
    .disable('tool', 'off')
    .extend(apps(registry))
  const client = await open(app, 'memory')
  const names = async (): Promise<unknown> =>
    ((await client.request('tools/list', {}))['tools'] as { name: string }[]).map(({ name }) => name)
  app.update('tool', 'report', { title: 'Report' }).disable('tool', 'report').enable('tool', 'report')
  app.enable('tool', 'off')
  expect(await names()).toEqual(['other'])
  await registry.start('reports')
  expect(await names()).toEqual(['report', 'off', 'other'])
  app.disable('tool', 'report')
  expect(await names()).toEqual(['off', 'other'])
})

test('what a template with scopes lists is for callers who have them; the template is for everybody', async () => {
  const app = createServer({ name: 'scoped', version: '1', log: () => undefined })
    .resource('notes://{id}', { scopes: ['notes'], list: () => [{ variables: { id: 7 } }] }, () => 'x')
    .resource('open://{id}', { list: () => [{ variables: { id: 8 } }] }, () => 'x')
  for (const [scopes, uris] of [
    [['notes'], ['notes://7', 'open://8']],
    [['else'], ['open://8']],
  ] as const) {
    await using client = await testClient(app, { auth: { sub: 'ann', scopes } })
    expect((await client.request('resources/list', {}))['resources']).toMatchObject(
      uris.map((uri) => ({ uri })),
    )
    expect(await namesOf(client.templates())).toHaveLength(2)
  }
  await using anonymous = await testClient(app)
  expect((await anonymous.request('resources/list', {}))['resources']).toMatchObject([{ uri: 'open://8' }])
})

test('without a template that lists, the list is the same object for every request', async () => {
  const { serviceOf } = await import('../../src/app/app.ts')
  const app = make()
  const { resources } = serviceOf(app)
  const client = await open(app, 'memory')
  await client.request('resources/list', {})
  const pages = new Set<unknown>()
  const page = resources.page.bind(resources)
  resources.page = (...args) => {
    const result = page(...args)
    pages.add(result)
    return result
  }
  for (let time = 0; time < 3; time++) await client.request('resources/list', {})
  app.update('resource', 'notes://by/{id}', { list: () => [] })
  await client.request('resources/list', {})
  expect(pages.size).toBe(1)
  app.update('resource', 'notes://by/{id}', { list: undefined })
  await client.request('resources/list', {})
  expect(pages.size).toBe(1)
  app.changed('resources')
  await client.request('resources/list', {})
  expect(pages.size).toBe(2)
})

test('a change of a resource that does not exist is logged once, with what happens and a suggestion that is made once', async () => {
  const log: string[] = []
  const app = createServer({ name: 'x', version: '1', log: (_level, message) => void log.push(message) })
    .resource('orders://7', {}, () => 'a')
    .resource('orders://7/lines', {}, () => 'b')
    .resource('bills://{id}', {}, () => 'c')
  await using client = await testClient(app)
  const heard: unknown[] = []
  await client.subscribe('orders://7', (change) => void heard.push(change))
  app.disable('resource', 'orders://7/lines').disable('resource', 'bills://{id}')
  app.updated('orders://7/lines')
  app.updated('bills://5')
  expect(log).toEqual([])
  app.updated('orders://7/line')
  await expect.poll(() => heard).toHaveLength(2)
  expect(log).toEqual([
    'updated("orders://7/line"): no resource or template has this URI, so only clients that watch a parent of it are notified; ' +
      'pass the URI of one, such as "orders://7/lines"',
  ])
  const compared = vi.spyOn(String.prototype, 'toUpperCase')
  try {
    app.updated('orders://7/line')
    for (let at = 0; at < 100; at++) app.updated(`orders://8/${at}`)
    const made = compared.mock.calls.length
    expect(made).toBeGreaterThan(0)
    for (let at = 100; at < 200; at++) app.updated(`orders://8/${at}`)
    expect(compared.mock.calls.length).toBe(made)
  } finally {
    compared.mockRestore()
  }
  expect(log).toHaveLength(20)
})

test('completers go with their item: one that is added again has none', async () => {
  const app = make()
    .complete('triage', 'id', () => ['old'])
    .complete('notes://by/{id}', 'id', () => ['old'])
    .tool('triage', {}, () => 1)
  await using client = await testClient(app)
  const values = async (owner: string): Promise<unknown> =>
    (await client.complete(owner, { name: 'id', value: '' })).values
  app.remove('tool', 'triage')
  app.disable('prompt', 'triage').enable('prompt', 'triage').update('prompt', 'triage', { title: 'Triage' })
  expect([await values('triage'), await values('notes://by/{id}')]).toEqual([['old'], ['old']])
  app.remove('prompt', 'triage')
  app.remove('resource', 'notes://by/{id}')
  app.prompt('triage', { args: { type: 'object', properties: { id: { type: 'string' } } } }, () => 'x')
  app.resource('notes://by/{id}', {}, ({ id }) => id)
  app.prompt('other', { args: { type: 'object', properties: { id: { type: 'string' } } } }, () => 'x')
  app.complete('other', 'id', () => ['new'])
  expect([await values('triage'), await values('notes://by/{id}')]).toEqual([[], []])
  expect(await values('other')).toEqual(['new'])
})

test('a change that waits because there are many listeners is sent when the server closes', async () => {
  const app = make()
  const { changes } = serviceOf(app)
  let now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  let told = 0
  for (let each = 0; each < 500; each++)
    changes.listen(() => {
      now += 0.02
      told++
    })
  changes.publish({ kind: 'tools' })
  changes.publish({ kind: 'prompts' })
  expect(told).toBe(500)
  const closed = app.close()
  expect(told).toBe(1000)
  clock.mockRestore()
  await closed
})
