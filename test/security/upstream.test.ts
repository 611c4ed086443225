import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer, McpError, type App } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'

const SECRET = 'postgres://admin:hunter2@10.0.0.5/prod'

/** Uses a server that ends at once and prints a secret. */
async function useUpstream(): Promise<never> {
  const args = ['-e', `console.error(${JSON.stringify(SECRET)}); process.exit(3)`]
  await connect({ command: process.execPath, args })
  throw new Error('the upstream server started')
}

const ARGS = { type: 'object', properties: { q: { type: 'string' } } } as const
const CALL = ['tools/call', { name: 'fine', arguments: {} }] as const

const PLACES: readonly [string, (app: App) => unknown, string, JsonObject][] = [
  ['a tool', (app) => app.tool('x', {}, useUpstream), 'tools/call', { name: 'x' }],
  ['a resource', (app) => app.resource('x://y', {}, useUpstream), 'resources/read', { uri: 'x://y' }],
  ['a template', (app) => app.resource('x://{y}', {}, useUpstream), 'resources/read', { uri: 'x://y' }],
  ['a prompt', (app) => app.prompt('p', {}, useUpstream), 'prompts/get', { name: 'p' }],
  [
    'a completion',
    (app) => app.prompt('p', { args: ARGS }, () => 'p').complete('p', 'q', useUpstream),
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'q', value: '' } },
  ],
  ['middleware', (app) => app.use('tools/call', useUpstream), ...CALL],
  ['an interceptor', (app) => app.intercept('tools/call', useUpstream), ...CALL],
  ['a provider', (app) => app.provide(useUpstream), ...CALL],
]

test.each(PLACES)(
  'the error of a client used in %s goes to the log, and the caller gets a reference',
  async (_place, add, method, params) => {
    const log: [string, JsonObject][] = []
    const app = createServer({
      name: 'front',
      version: '1',
      log: (_level, text, facts) => void log.push([text, facts as JsonObject]),
    })
    app.tool('fine', {}, () => 'fine')
    add(app)
    const replies: string[] = []
    const end = app.connect({ receive: (text) => void replies.push(text) })
    onTestFinished(() => end.close())
    const clientInfo = { name: 'caller', version: '1' }
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
    end.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello }))
    end.send(JSON.stringify({ jsonrpc: '2.0', id: 2, method, params }))
    await expect.poll(() => replies.length, { timeout: 10_000 }).toBe(2)
    const [, reference] = /\(reference ([-0-9a-f]{36})\)/.exec(replies[1] as string) ?? []
    expect(replies[1]).not.toMatch(/hunter2|cannot connect|node/)
    const [[, facts]] = log.filter(([, { reference: own }]) => own === reference) as [(typeof log)[number]]
    expect(String((facts['error'] as Error).message)).toContain(SECRET)
  },
)

test('an error with a code of the upstream server is masked too', async () => {
  const upstream = createServer({ name: 'back', version: '1' }).tool('fail', {}, () => {
    throw new McpError('custom', SECRET, { code: 4009, data: { at: SECRET } })
  })
  const client = await connect(upstream)
  onTestFinished(() => client.close())
  await expect(client.call('fail')).rejects.toMatchObject({
    kind: 'custom',
    code: 4009,
    data: { at: SECRET },
  })
  const front = createServer({ name: 'front', version: '1', log: () => undefined })
    .tool('fail', {}, () => client.call('fail'))
    .prompt('fail', {}, async () => String(await client.call('fail')))
  const caller = await connect(front)
  onTestFinished(() => caller.close())
  const answers = await Promise.all([
    caller.callRaw('fail').then(JSON.stringify),
    caller.prompt('fail').then(JSON.stringify, String),
  ])
  for (const answer of answers) {
    expect(answer).toMatch(/\(reference [-0-9a-f]{36}\)/)
    expect(answer).not.toContain('hunter2')
  }
})
