import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { inspect } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { connect, createClient } from '../../src/client.ts'
import { failure } from '../hostile/peer.ts'

test.each([
  'tcp://user:hunter2@localhost',
  'tls://user:hunter2@localhost',
  'tcp://user:hunter2@localhost:0',
  'tcp://user:hunter2@localhost:99999',
  'tls://user:hunter2@localhost:port',
  'tls://user:p@hunter2@localhost:99999',
  'tls://user:p/hunter2@localhost:99999',
  `tls://user:hunter2${'-'.repeat(140)}@localhost:99999`,
  'tcp://user:hunter2@127.0.0.1:1',
  'tls://user:hunter2@127.0.0.1:1',
  'unix://user:hunter2@localhost/no%2Fpath',
  'unix:user:hunter2@no-path',
  'unix://user:hunter2@localhost/nowhere.sock',
])('the error for %s does not repeat the password', async (url) => {
  const error = await failure(connect(url, { recovery: false }))
  expect(error).toMatchObject({ kind: expect.stringMatching(/^(bad_option|connect_failed)$/) as string })
  expect(inspect(error, { depth: 9 })).not.toMatch(/hunter2/)
})

test.each([
  ['tls', /within (?:0\.3 seconds|300 ms)/],
  ['wss', /within 300 ms/],
  ['ws', /within 300 ms/],
])(
  '%s opens within timeout and total, whichever is shorter',
  async (scheme, text) => {
    const silent = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void silent.close())
    silent.on('connection', (socket) => onTestFinished(() => void socket.destroy()))
    await new Promise((resolve) => silent.once('listening', resolve))
    const url = `${scheme}://127.0.0.1:${(silent.address() as AddressInfo).port}`
    for (const limit of [{ timeout: 300 }, { total: 300 }, { timeout: 300, total: 9000 }]) {
      const error = await failure(connect(url, { recovery: false, ...limit }))
      expect(error).toMatchObject({ message: expect.stringMatching(text) as string })
    }
  },
  100_000,
)

test.each([
  ['tls', {}],
  ['ws', {}],
  ['wss', {}],
  ['https', { tls: { pin: 'a'.repeat(64) } }],
])(
  'closing a client aborts its %s connection that is still opening',
  async (scheme, options) => {
    const silent = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void silent.close())
    await once(silent, 'listening')
    const url = `${scheme}://127.0.0.1:${(silent.address() as AddressInfo).port}`
    const client = createClient(url, { recovery: false, ...options })
    const opening = failure(client.open())
    const [socket] = (await once(silent, 'connection')) as [Socket]
    const gone = once(socket.on('error', () => undefined).resume(), 'close')
    await client.close()
    expect(await opening).toMatchObject({ kind: 'closed' })
    await gone
  },
  9000,
)

test.each(['tcp://127.0.0.1:4000/#x', 'unix:/run/mcp#x'])(
  '%s has a fragment, which is an error',
  async (url) => {
    expect(await failure(connect(url))).toMatchObject({
      kind: 'bad_option',
      message: expect.stringContaining('the URL has a fragment; remove the part from # on') as string,
    })
  },
)
