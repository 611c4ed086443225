import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { failure } from '../hostile/peer.ts'

const make = (): ReturnType<typeof createServer> =>
  createServer({ name: 'there', version: '1' }).tool('hi', {}, () => 'hi')

test('options that a scheme does not support are rejected, above all those for security', async () => {
  const pin = 'AA:'.repeat(31) + 'AA'
  const app = make()
  const { addresses } = await app.listen({ tcp: { port: 0 }, http: { port: 0 }, ws: { port: 0 } })
  for (const url of Object.values(addresses)) {
    const refused = await failure(connect(url, { tls: { pin } }))
    expect(refused).toMatchObject({ kind: 'bad_option', message: expect.stringContaining('tls') })
  }
  for (const url of [addresses.http, addresses.ws] as string[]) {
    const refused = await failure(connect(url, { framing: 'length-prefix' }))
    expect(refused).toMatchObject({ kind: 'bad_option', message: expect.stringContaining('framing') })
  }
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
