import { expect, onTestFinished, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import { connect } from '../../src/client.ts'
import { failure } from '../client/gather.ts'
import { scripted, spoken, type Message } from '../client/scripted.ts'

/* Errors without an id, which may be about anything that the client has sent. */

test('a server that does not read an answer does not make the client repeat the call that asked', async () => {
  let ran = 0
  const app = createServer({
    name: 'bank',
    version: '1',
    limits: { unparsedBytes: 60_000, questionMs: 2000 },
    log: () => undefined,
  })
  app.tool('pay', {}, async (_, ctx) => {
    ran++
    await ctx.sample({ messages: [{ role: 'user', content: { type: 'text', text: 'ok?' } }], maxTokens: 9 })
    return 'paid'
  })
  const running = await app.listen({ tcp: { port: 0 } })
  onTestFinished(() => running.close())
  const text = 'y'.repeat(100_000)
  const sample = async () => ({ role: 'assistant', model: 'm', content: { type: 'text', text } }) as const
  await using client = await connect(running.addresses.tcp as string, {
    revision: '2025-11-25',
    answers: { sample },
  })
  expect(await failure(client.call('pay'))).toBeInstanceOf(Error)
  expect(ran).toBe(1)
})

const BUSY = { refusal: { name: 'QUEUE_CAP_EXCEEDED', retryable: true } }
const LOST = { refusal: { name: 'SERVER_UNINITIALIZED' } }

test.each([
  ['a full queue', -32000, BUSY],
  ['another connection', -32000, LOST],
  ['other headers', -32020, {}],
])(
  'an error without an id that asks for %s does not repeat a call that may have run',
  async (_, code, data) => {
    const server = scripted('2026-07-28', ({ method }, peer) => {
      if (method !== 'tools/call') return false
      peer.send({ error: { code, message: 'no', data } })
      return true
    })
    await using client = await connect(server)
    expect(await failure(client.call('pay'))).toMatchObject({ code, message: 'no' })
    expect(
      (server.sent() as readonly Message[]).filter(({ method }) => method === 'tools/call'),
    ).toHaveLength(1)
  },
)

test('an error without an id that may be about an abandoned call fails no other', async () => {
  const calls: Message[] = []
  const server = scripted('2026-07-28', (message, peer) => {
    if (message.method !== 'tools/call') return false
    calls.push(message)
    if (calls.length < 2) return true
    peer.send({ error: { code: -32000, message: 'no', data: BUSY } })
    peer.reply(spoken('paid'))
    return true
  })
  await using client = await connect(server)
  const warnings: string[] = []
  client.on('warning', (text) => warnings.push(text))
  const stop = new AbortController()
  const slow = failure(client.call('slow', {}, { signal: stop.signal }))
  await server.until(({ method }) => method === 'tools/call')
  stop.abort()
  await slow
  expect(await client.call('pay')).toBe('paid')
  expect(calls).toHaveLength(2)
  expect(warnings).toEqual(['the server could not read a message: no'])
})
