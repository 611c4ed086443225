import { expect } from 'vitest'
import { createServer } from '../../src/index.ts'
import { scenario } from '../harness/scenario.ts'

const TOOLS = 'notifications/tools/list_changed'
const RESOURCES = 'notifications/resources/list_changed'
const PROMPTS = 'notifications/prompts/list_changed'

function make(): ReturnType<typeof createServer> {
  return createServer({ name: 'changing', version: '1' })
    .tool('first', {}, () => 1)
    .resource('a://first', {}, () => 'x')
    .prompt('first', {}, () => 'x')
}

scenario(
  'a tool that comes or goes is announced, and the list follows [R156] [S0-5.1] [S2-4.1-1] [S4-10-7] [R157] [S2-13-S4]',
  make,
  async (client, _revision, { app }) => {
    await client.follow({ lists: ['tools'] })
    const names = async (): Promise<unknown> =>
      ((await client.get('tools/list'))['tools'] as { name: string }[]).map(({ name }) => name)
    app.tool('second', {}, () => 2)
    await client.hear(TOOLS, 1)
    expect(await names()).toEqual(['first', 'second'])
    expect(app.remove('tool', 'first')).toBe(true)
    await client.hear(TOOLS, 2)
    expect(await names()).toEqual(['second'])
    expect(app.remove('tool', 'first')).toBe(false)
    app.tool('first', {}, () => 'again')
    await client.hear(TOOLS, 3)
    expect(await names()).toEqual(['second', 'first'])
    expect((await client.call('first'))['content']).toEqual([{ type: 'text', text: 'again' }])
    expect(client.notices.filter(({ method }) => method.endsWith('list_changed'))).toHaveLength(3)
  },
)

scenario(
  'so are resources, templates and prompts [S2-3.1-2] [S2-5.1-1] [S4-8-7] [S4-9-5] [S2-13-S4]',
  make,
  async (client, _revision, { app }) => {
    await client.follow({ lists: ['resources', 'prompts'] })
    app.resource('a://second', {}, () => 'x')
    await client.hear(RESOURCES, 1)
    app.resource('a://{b}/x', {}, () => 'x')
    await client.hear(RESOURCES, 2)
    app.remove('resource', 'a://{b}/x')
    await client.hear(RESOURCES, 3)
    app.prompt('second', {}, () => 'x')
    await client.hear(PROMPTS, 1)
    app.remove('prompt', 'first')
    await client.hear(PROMPTS, 2)
    expect(await client.get('resources/templates/list')).toEqual({ resourceTemplates: [] })
    expect(await client.get('prompts/list')).toEqual({ prompts: [{ name: 'second' }] })
    expect(await client.get('resources/list')).toEqual({
      resources: [
        { uri: 'a://first', name: 'first' },
        { uri: 'a://second', name: 'second' },
      ],
    })
  },
)

scenario(
  'many changes at once are told once to each client, in order [R156] [S2-1.4-2]',
  make,
  async (client, _revision, { app, join }) => {
    const other = await join()
    for (const one of [client, other]) await one.follow({ lists: ['tools', 'prompts'] })
    for (let at = 0; at < 50; at++) app.tool(`more-${at}`, {}, () => at)
    app.prompt('later', {}, () => 'x')
    for (const one of [client, other]) {
      await one.hear(PROMPTS)
      const changes = one.notices
        .map(({ method }) => method)
        .filter((method) => method.endsWith('list_changed'))
      expect(changes).toEqual([TOOLS, PROMPTS])
    }
  },
)

scenario(
  'a list that the client was not told of at the opening is not announced [S4-8-7] [S4-9-5] [S4-10-7]',
  () => createServer({ name: 'grows', version: '1' }),
  async (client, _revision, { app, join }) => {
    await client.follow({ lists: ['tools', 'resources', 'prompts'] })
    app.tool('first', {}, () => 1)
    app.resource('a://first', {}, () => 'x')
    app.prompt('first', {}, () => 'x')
    await client.settle()
    const later = await join()
    await later.follow({ lists: ['tools', 'resources', 'prompts'] })
    app.tool('second', {}, () => 2)
    app.resource('a://second', {}, () => 'x')
    app.prompt('second', {}, () => 'x')
    for (const method of [TOOLS, RESOURCES, PROMPTS]) await later.hear(method)
    await client.settle()
    expect(client.notices.filter(({ method }) => method.endsWith('list_changed'))).toEqual([])
  },
)
