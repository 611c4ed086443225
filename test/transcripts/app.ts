import { apps } from '../../src/extensions/apps.ts'
import { defineExtension } from '../../src/extensions/define.ts'
import { createServer, ToolError, type App } from '../../src/index.ts'
import type { Profile } from '../../src/profiles.ts'

const AB = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a'],
} as const

const ROUTE = {
  type: 'object',
  properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
  required: ['region'],
} as const

/** Takes and gives what extensions may where JSON-RPC is read loosely. */
const sums = defineExtension({
  id: 'com.example/sums',
  methods: { add: {} },
  serve: () => ({
    add: (_, { params }) => {
      const terms = Object.values(params) as readonly number[]
      return terms.reduce((sum, term) => sum + term, 0) as never
    },
  }),
})

/** A server with something for every switch. */
export function createApp(profile: Profile): App {
  const limits = { drainMs: 100 }
  const app = createServer({ name: 'transcripts', version: '1', profile, limits, log: () => undefined })
  let lingering = 'still there'
  app
    .tool('tell', { description: 'Logs' }, (_, { log }) => {
      log.debug('a detail')
      return 'told'
    })
    .tool('touch', { description: 'Changes a resource' }, () => {
      app.updated('bytes://few')
      return 'touched'
    })
    .tool('route', { description: 'Says where', input: ROUTE }, ({ region }) => region)
    .tool('linger', { description: 'Waits while somebody is there' }, (_, { signal }) => {
      lingering = 'still there'
      return new Promise((resolve) =>
        signal.addEventListener('abort', () => {
          lingering = 'left'
          resolve('left')
        }),
      )
    })
    .tool('lingered', { description: 'Whether somebody left' }, () => lingering)
  return app
    .extend(sums)
    .extend(apps([]))
    .tool('add', { description: 'Adds', input: AB }, ({ a, b = 0 }) => a + b)
    .tool('none', { description: 'Needs nothing' }, () => 'done')
    .tool('fail', { description: 'Fails on purpose' }, () => {
      throw new ToolError('the printer is out of paper', { tray: 2 })
    })
    .tool('break', { description: 'Fails by accident' }, () => {
      throw new Error('a secret')
    })
    .tool('refuse', { description: 'Returns a failure' }, () => ({
      content: [{ type: 'text', text: 'not today' }],
      isError: true,
    }))
    .tool('count', { description: 'Tells how far it is' }, (_, { progress }) => {
      progress(1, 2)
      return 'counted'
    })
    .tool('wait', { description: 'Waits to be cancelled' }, (_, { signal }) => {
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped')))
    })
    .tool('judge', { description: 'Asks the model' }, async (_, { sample }) => {
      const { stopReason } = await sample({
        messages: [{ role: 'user', content: 'Is it good?' }],
        systemPrompt: 'Be brief.',
      })
      return stopReason
    })
    .tool('imagine', { description: 'Asks the model to be wild' }, async (_, { sample }) => {
      const { model } = await sample({ messages: [{ role: 'user', content: 'Go.' }], temperature: 3 })
      return model
    })
    .resource(
      'bytes://few',
      { annotations: { priority: 1, audience: ['internal'], tags: ['small'] } },
      () => new Uint8Array([1, 2]),
    )
    .resource('odd://type', { mimeType: 'application/x-odd' }, () => 'odd')
    .resource('city://{country}/{city}', { name: 'cities' }, () => 'a city')
    .prompt(
      'greet',
      { args: { type: 'object', properties: { whom: { type: 'string' } } } },
      () => 'Say hello.',
    )
    .prompt('ruled', {}, () => [{ role: 'system', content: 'Be kind.' }])
    .complete('greet', 'whom', () => [{ value: 'Ada', description: 'A countess' }, 'Bo'])
    .complete('city://{country}/{city}', 'city', () => ['Bern'])
}
