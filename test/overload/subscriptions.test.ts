import type { IncomingMessage } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { BOTH, headed, initialize, message } from '../http/messages.ts'
import { begin, post, send } from '../http/wire.ts'
import { open } from '../http/server.ts'
import { Program } from './program.ts'

const MIB = 2 ** 20
/** A server that dies if it keeps everything that these tests send. */
const SMALL = { flags: ['--max-old-space-size=56'], limits: { waitMs: 60_000, heldBytes: 8 * MIB } }

/** Different URIs of 0.3 MB together, which one request may still match against a template. */
function uris(of: number): readonly string[] {
  return Array.from({ length: 300 }, (_, at) => `file:///${of}/${at}/${'x'.repeat(1000)}`)
}

/** Opens a stream on a connection of its own, which stays open. */
async function listen(port: number, params: JsonObject): Promise<IncomingMessage> {
  const response = await begin(port, headed('subscriptions/listen', params))
  response.on('error', () => undefined)
  onTestFinished(() => void response.destroy())
  return response
}

async function expectServed(port: number): Promise<void> {
  expect((await send(port, headed('tools/call', { name: 'echo', arguments: { text: 'x' } }))).status).toBe(
    200,
  )
}

test('streams of many connections that watch long URIs do not fill the memory of a server', async () => {
  const program = await Program.start(SMALL)
  const responses: IncomingMessage[] = []
  for (let each = 0; each < 130; each++)
    responses.push(await listen(program.port, { notifications: { resourceSubscriptions: uris(each) } }))
  for (const response of responses) response.resume()
  const statuses = responses.map(({ statusCode }) => statusCode)
  expect([...new Set(statuses)]).toEqual([200, 503])
  await expectServed(program.port)
  const { heap, counts } = await program.state()
  expect(heap).toBeLessThan(40 * MIB)
  expect(counts['too_much_held']).toBe(statuses.filter((status) => status === 503).length)
  for (const response of responses) response.destroy()
  await expect.poll(async () => (await program.state()).running).toBe(0)
  const again = await listen(program.port, { notifications: { resourceSubscriptions: uris(1) } })
  expect(again.statusCode).toBe(200)
})

test('sessions that subscribe to long URIs do not fill the memory of a server', async () => {
  const program = await Program.start({ limits: { heldBytes: MIB } })
  const codes: unknown[] = []
  for (let each = 0; each < 10 && !codes.includes(1089); each++) {
    const session = await open(program.port)
    for (let at = 0; at < 1000 && !codes.includes(1089); at++) {
      const uri = `file:///${each}/${at}/${'x'.repeat(8000)}`
      const body = JSON.stringify({ jsonrpc: '2.0', id: at, method: 'resources/subscribe', params: { uri } })
      const { error } = (await post(program.port, body, session.headers)).json as { error?: { code: number } }
      codes.push(error?.code)
    }
  }
  expect(codes.at(-1)).toBe(1089)
  await expectServed(program.port)
})

test('sessions whose clients say much about themselves do not fill the memory of a server', async () => {
  const program = await Program.start({ flags: ['--max-old-space-size=200'] })
  const capabilities = { experimental: { list: Array.from({ length: 90_000 }, () => ({})) } }
  const body = initialize('2025-11-25', capabilities)
  for (let each = 0; each < 3; each++)
    expect((await send(program.port, { body, headers: BOTH })).json).toMatchObject({
      error: { code: -32602 },
    })
  await open(program.port)
  expect((await program.state()).heap).toBeLessThan(40 * MIB)
})

test('a stream keeps nothing of its request but what it watches', async () => {
  const program = await Program.start(SMALL)
  const before = await program.state()
  for (let each = 0; each < 40; each++) {
    const _meta = { 'example.org/padding': `${each}${'x'.repeat(2 * MIB)}` }
    const response = await listen(program.port, { notifications: { toolsListChanged: true }, _meta })
    expect(response.resume().statusCode).toBe(200)
  }
  const { heap, running } = await program.state()
  expect(running).toBe(40)
  expect(heap - before.heap).toBeLessThan(20 * MIB)
})

test.each(['2026-07-28', '2025-11-25'])(
  'a request that runs does not keep the text of its body at %s',
  async (revision) => {
    const program = await Program.start({ limits: { waitMs: 60_000 } })
    const before = await program.state()
    // A character beyond Latin-1 doubles the text of the body, but not the other values in it.
    const params = { name: 'sleep', arguments: { of: 600_000, text: 'x'.repeat(MIB), more: '€' } }
    const request =
      revision === '2026-07-28'
        ? headed('tools/call', params)
        : { body: message('tools/call', params, 1), headers: {} }
    for (let each = 0; each < 20; each++) {
      const session = revision === '2026-07-28' ? undefined : await open(program.port)
      const running = begin(program.port, {
        ...request,
        headers: { ...request.headers, ...session?.headers },
      })
      running.then(
        (response) => response.resume(),
        () => undefined,
      )
    }
    await expect.poll(async () => (await program.state()).running).toBe(20)
    const { heap } = await program.state()
    expect(heap - before.heap).toBeLessThan(30 * MIB)
  },
)
