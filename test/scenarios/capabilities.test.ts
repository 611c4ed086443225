import { expect } from 'vitest'
import { createServer } from '../../src/index.ts'
import type { Client } from '../harness/client.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

async function declared(client: Client): Promise<unknown> {
  if (client.hasSession) return client.opening['capabilities']
  return (await client.request('server/discover'))['capabilities']
}

const empty = createServer({ name: 'empty', version: '1' })

scenario(
  'a server with nothing declares only that it logs, and refuses the rest at use [R140] [R184] [S2-9.1-1] [S2-9.3-1] [S2-9.3-4] [S4-14-6] [R175] [S0-5.1] [S4-1-9] [S4-5-8] [S4-8-6] [R038] [R039] [S2-9.3-2]',
  empty,
  async (client, revision) => {
    expect(await declared(client)).toEqual({ logging: {} })
    const needs = [
      ['tools/list', 'tools'],
      ['tools/call', 'tools'],
      ['resources/list', 'resources'],
      ['resources/templates/list', 'resources'],
      ['resources/read', 'resources'],
      ['prompts/list', 'prompts'],
      ['prompts/get', 'prompts'],
      ['completion/complete', 'completions'],
      ...(revision === '2026-07-28'
        ? []
        : [
            ['resources/subscribe', 'resources.subscribe'],
            ['resources/unsubscribe', 'resources.subscribe'],
          ]),
    ] as const
    for (const [method, capability] of needs) {
      const error = await refusal(client.request(method!, { name: 'x', uri: 'x:y' }))
      const message = `"${method}" needs the capability ${capability}, which this server does not offer`
      expect([error.code, error.message]).toEqual([-32601, message])
    }
  },
  { profiles: false },
)

scenario(
  'each capability is declared from what there is, with its flags [R140] [R180] [S0-5.1] [S2-2.3-2] [S2-9.1-1] [S2-9.1-2] [S4-8-1] [S4-9-1] [S4-10-1] [S3-7.2-3] [S4-8-6] [S4-5-8]',
  () => createServer({ name: 'grows', version: '1' }),
  async (_client, revision, { app, join }) => {
    const completions = revision === '2024-11-05' ? {} : { completions: {} }
    app.tool('one', {}, () => 1)
    const tools = { tools: { listChanged: true }, logging: {} }
    expect(await declared(await join())).toEqual(tools)
    app.resource('a://{b}', {}, () => 'x')
    const resources = { ...tools, resources: { subscribe: true, listChanged: true } }
    expect(await declared(await join())).toEqual(resources)
    app.prompt('p', { args: { type: 'object', properties: { a: { type: 'string' } } } }, () => 'x')
    const prompts = { ...resources, prompts: { listChanged: true } }
    expect(await declared(await join())).toEqual(prompts)
    app.complete('p', 'a', () => [])
    expect(await declared(await join())).toEqual({ ...prompts, ...completions })
    app.remove('tool', 'one')
    const { tools: _, ...others } = prompts
    expect(await declared(await join())).toEqual({ ...others, ...completions })
  },
  { profiles: false },
)

scenario(
  'what a server names in its options is declared, experimental parts as they are [S2-2.3-6] [S2-9.3-4] [S2-13-S2]',
  createServer({
    name: 'named',
    version: '1',
    capabilities: ['tools', 'resources', 'prompts', 'completions'],
    experimental: { 'com.example/x': { on: true } },
  }),
  async (client, revision) => {
    expect(await declared(client)).toEqual({
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      ...(revision === '2024-11-05' ? {} : { completions: {} }),
      logging: {},
      experimental: { 'com.example/x': { on: true } },
    })
    expect(await client.get('tools/list')).toEqual({ tools: [] })
    expect(await client.get('resources/list')).toEqual({ resources: [] })
    expect(await client.get('resources/templates/list')).toEqual({ resourceTemplates: [] })
    expect(await client.get('prompts/list')).toEqual({ prompts: [] })
    // What goes with a flag is there: it knows the method and misses only the item.
    const ref = { type: 'ref/prompt', name: 'x' }
    const missing = revision === '2026-07-28' ? -32602 : -32002
    const codes = [
      ['tools/call', { name: 'x' }, -32602],
      ['prompts/get', { name: 'x' }, -32602],
      ['resources/read', { uri: 'x:y' }, missing],
      ['completion/complete', { ref, argument: { name: 'a', value: '' } }, -32602],
      ...(client.hasSession ? ([['resources/subscribe', { uri: 'x:y' }, missing]] as const) : []),
    ] as const
    for (const [method, params, code] of codes)
      expect([method, (await refusal(client.request(method, params))).code]).toEqual([method, code])
    if (client.hasSession) {
      expect(await client.request('resources/unsubscribe', { uri: 'x:y' })).toEqual({})
      expect(await client.request('logging/setLevel', { level: 'info' })).toEqual({})
    }
  },
  { profiles: false },
)

scenario(
  'completion stands alone: a template that completes is enough [S2-9.3-5] [R180]',
  createServer({ name: 'completes', version: '1' })
    .resource('a://{b}', {}, () => 'x')
    .complete('a://{b}', 'b', () => ['one']),
  async (client) => {
    const params = { ref: { type: 'ref/resource', uri: 'a://{b}' }, argument: { name: 'b', value: '' } }
    expect(await client.get('completion/complete', params)).toEqual({
      completion: { values: ['one'], total: 1, hasMore: false },
    })
    expect('completions' in ((await declared(client)) as object)).toBe(client.revision !== '2024-11-05')
  },
)
