import { expect } from 'vitest'
import { createServer } from '../../src/index.ts'
import { scenario } from '../harness/scenario.ts'

const UPDATED = 'notifications/resources/updated'

function make(): ReturnType<typeof createServer> {
  return createServer({ name: 'flows', version: '1' })
    .tool('export', { description: 'Exports everything' }, async (_, { progress }) => {
      for (const percent of [10, 50, 100]) {
        progress(percent, 100)
        await Promise.resolve()
      }
      return 'exported'
    })
    .resource('weather://oslo', {}, () => 'rain')
}

scenario(
  'a client opens, and what it lists next is what it was offered [S2-12.1] [S2-15-2] [S2-13-S2] [S2-13-S9] [S2-0-4]',
  make,
  async (client, revision) => {
    const greeting = client.hasSession ? client.opening : await client.get('server/discover')
    if (client.hasSession) expect(greeting['protocolVersion']).toBe(revision)
    expect(greeting['capabilities']).toMatchObject({ tools: {}, resources: {}, logging: {} })
    expect(greeting['capabilities']).not.toHaveProperty('prompts')
    expect((await client.get('tools/list'))['tools']).toMatchObject([
      { name: 'export', description: 'Exports everything', inputSchema: { type: 'object' } },
    ])
    await expect(client.get('prompts/list')).rejects.toMatchObject({ code: -32601 })
  },
)

scenario(
  'progress at 10, 50 and 100 percent comes before the result that it belongs to [S2-12.2] [S2-13-S4]',
  make,
  async (client) => {
    const result = await client.call('export', {}, { meta: { progressToken: 'export-1' } })
    expect(client.heard('notifications/progress')).toEqual(
      [10, 50, 100].map((progress) => ({ progressToken: 'export-1', progress, total: 100 })),
    )
    expect(result['content']).toEqual([{ type: 'text', text: 'exported' }])
  },
)

scenario(
  'a subscription is answered with nothing, and each later change with a notice [S2-12.3] [S2-13-S4]',
  make,
  async (client, _revision, { app }) => {
    if (client.hasSession)
      expect(await client.get('resources/subscribe', { uri: 'weather://oslo' })).toEqual({})
    await client.follow({ uris: ['weather://oslo'] })
    app.updated('weather://oslo')
    await client.hear(UPDATED, 1)
    expect(client.heard(UPDATED).map(({ uri }) => uri)).toEqual(['weather://oslo'])
  },
)

scenario(
  'a batch of two requests and a notification has two responses [S2-12.5]',
  make,
  async (client) => {
    const batch = [
      { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      { jsonrpc: '2.0', method: 'notifications/roots/list_changed' },
      { jsonrpc: '2.0', id: 2, method: 'resources/list' },
    ]
    expect(await client.post(JSON.stringify(batch))).toMatchObject([
      { id: 1, result: { tools: [{ name: 'export' }] } },
      { id: 2, result: { resources: [{ uri: 'weather://oslo' }] } },
    ])
  },
  { only: ['2025-03-26'] },
)
