import { expect } from 'vitest'
import { createServer } from '../../src/index.ts'
import { apps, health, subscriptions, toolCompletion, toolStream } from '../../src/extensions.ts'
import { erlmcp } from '../../src/profiles/erlmcp.ts'
import { scenario } from '../harness/scenario.ts'

function createErlmcp() {
  return createServer({ name: 'erlmcp', version: '1', profile: erlmcp })
    .tool(
      'steps',
      { input: { type: 'object', properties: { unit: { type: 'string', enum: ['m', 'ft'] } } } },
      function* () {
        yield 'one'
        yield 'two'
      },
    )
    .extend(health)
    .extend(apps([{ name: 'first' }]))
    .extend(subscriptions)
    .extend(toolStream)
    .extend(toolCompletion)
}

scenario(
  'in profile erlmcp extensions have their bare names and need no declaration [S2-4.1-2] [S2-9.4-2] [S2-9.4-5] [S2-9.4-11] [S2-9.4-12] [S2-7.2-1]',
  () => createErlmcp(),
  async (client) => {
    expect(await client.get('health/status')).toMatchObject({ status: 'ok' })
    expect(await client.get('apps/start', { name: 'first' })).toEqual({
      app: { name: 'first', state: 'running' },
    })
    expect(await client.get('apps/list')).toEqual({ apps: [{ name: 'first', state: 'running' }] })
    expect(await client.get('subscriptions/list')).toEqual({ subscriptions: [] })
    expect(await client.get('subscriptions/remove', { uri: 'a://b' })).toEqual({ removed: 0 })
    const result = await client.get('tools/stream', { name: 'steps' }, { meta: { progressToken: 't' } })
    expect(result).toMatchObject({ content: [{ text: 'one' }, { text: 'two' }] })
    const told = client.notices
      .map(({ params }) => params)
      .filter((params) => params['progressToken'] === 't')
    expect(told).toHaveLength(2)
    const asked = { ref: { type: 'ref/tool', name: 'steps' }, argument: { name: 'unit', value: 'f' } }
    expect(await client.get('completion/complete', asked)).toMatchObject({ values: [{ value: 'ft' }] })
    // After the client's first message, nothing of this is in the official schema.
    client.transcript.length = 1
  },
  { until: '2025-11-25', profiles: false },
)
