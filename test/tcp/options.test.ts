import { expect, test } from 'vitest'
import { connect, connectAll, type ConnectOptions } from '../../src/client.ts'
import type { Target } from '../../src/client/target.ts'
import { createServer } from '../../src/index.ts'
import { failure } from '../hostile/peer.ts'
import { testAuth } from '../login/core-auth.ts'

const make = (): ReturnType<typeof createServer> =>
  createServer({ name: 'there', version: '1' }).tool('hi', {}, () => 'hi')

/** Options of connect that some targets have no use for, and the targets that have. */
const APPLIES: readonly (readonly [ConnectOptions, readonly string[]])[] = [
  [{ tls: { pin: 'AA:'.repeat(31) + 'AA' } }, ['https', 'tls', 'wss']],
  [{ auth: testAuth('good') }, ['http', 'https', 'ws', 'wss']],
  [{ framing: 'length-prefix' }, ['tcp', 'tls', 'unix']],
  [{ connections: 2 }, ['tcp', 'tls', 'unix']],
  [{ heartbeat: '5s' }, ['tcp', 'tls', 'unix', 'ws', 'wss']],
  [{ headers: { 'x-tenant': 'nine' } }, ['http', 'https', 'ws', 'wss']],
  [{ fetch }, ['http', 'https']],
  [{ inherit: 'all' }, ['command']],
]

test.each(APPLIES)(
  'the option %o is rejected for targets on which it has no effect',
  async (option, used) => {
    const app = make()
    const targets = new Map<string, Target>([
      ['memory', app],
      ['command', { command: process.execPath, args: ['-e', 'process.exit(0)'] }],
      ...['http', 'https', 'ws', 'wss', 'tcp', 'tls'].map(
        (scheme) => [scheme, `${scheme}://127.0.0.1:1`] as const,
      ),
      ['unix', 'unix:/nowhere.sock'],
    ])
    const name = Object.keys(option)[0] as string
    const rejecting: string[] = []
    for (const [kind, target] of targets) {
      const error = await failure(connect(target, { recovery: false, ...option }))
      if (error.message.startsWith(`connect ${name}: it applies only to `)) rejecting.push(kind)
    }
    expect(rejecting).toEqual([...targets.keys()].filter((kind) => !used.includes(kind)))
  },
)

test('headers of an mcp.json entry are rejected for a URL that has none', async () => {
  const target = { url: 'tcp://127.0.0.1:1', headers: { 'x-tenant': 'nine' } }
  expect(await failure(connect(target))).toMatchObject({ kind: 'bad_option' })
})

test('each server of a group gets the options that apply to it', async () => {
  const app = make()
  const { addresses } = await app.listen({ tcp: { port: 0 }, http: { port: 0 } })
  const servers = { local: make(), tcp: addresses.tcp as string, http: addresses.http as string }
  const options: ConnectOptions = { headers: { 'x-tenant': 'nine' }, connections: 2, inherit: 'none', fetch }
  await using group = await connectAll(servers, options)
  expect([...group.failures]).toEqual([])
  for (const name of Object.keys(servers)) expect(await group.call(`${name}__hi`)).toBe('hi')
  await group.close()
  await app.close()
})

test('a path in place of PEM text is rejected on both sides, and the error says what to write', async () => {
  const tls = { key: 'certs/key.pem', cert: 'certs/cert.pem' }
  for (const refused of [
    await failure(make().listen({ tcp: { port: 0, tls } })),
    await failure(make().listen({ tcp: { port: 0, tls: { key: '', cert: '' } } })),
    await failure(connect('tls://127.0.0.1:1', { tls: { ca: 'certs/ca.pem' } })),
  ])
    expect(refused).toMatchObject({ kind: 'bad_option', message: expect.stringContaining('readFileSync') })
})

test('closing a server closes its listeners', async () => {
  const app = make()
  const running = await app.listen({ tcp: { port: 0 }, http: { port: 0 } })
  await app.close()
  await running.closed
  for (const url of Object.values(running.addresses))
    expect(await failure(connect(url))).toMatchObject({ kind: 'connect_failed' })
  const again = await app.listen({ tcp: { port: 0 } })
  await using client = await connect(again.addresses.tcp as string)
  expect(await client.call('hi')).toBe('hi')
  await client.close()
  await again.close()
})

test('a mismatch of framing is reported at once, whichever side is wrong', async () => {
  const app = make()
  const lines = await app.listen({ tcp: { port: 0 } })
  const lengths = await app.listen({ tcp: { port: 0, framing: 'length-prefix' } })
  const wrong = [
    connect(lines.addresses.tcp as string, { framing: 'length-prefix' }),
    connect(lengths.addresses.tcp as string),
  ]
  for (const refused of wrong)
    expect(await failure(refused)).toMatchObject({
      kind: 'connect_failed',
      message: expect.stringContaining('framing'),
    })
  await app.close()
})
