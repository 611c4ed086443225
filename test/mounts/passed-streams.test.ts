import { Agent, createServer as createHttp, request as ask, type IncomingMessage } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import { createGunzip, gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { Deferred } from '../../src/base/deferred.ts'
import { createServer } from '../../src/index.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import { BOTH, initialize } from '../http/messages.ts'
import { listen } from './tour.ts'

interface Site {
  readonly url: string
  readonly logged: string[]
}

/** A site that passes on a stream instead of the request. */
async function site(
  pass: (request: IncomingMessage) => unknown,
  limits: Partial<Limits> = {},
): Promise<Site> {
  const logged: string[] = []
  const log = (_level: string, said: string): void => void logged.push(said)
  const node = createServer({ name: 'x', version: '1', limits, log }).node()
  const server = createHttp((request, response) => node(request, response, pass(request)))
  return { url: await listen(server), logged }
}

const post = async (
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = BOTH,
): Promise<[number, string]> => {
  const reply = await fetch(url, { method: 'POST', body, headers: { ...headers } })
  return [reply.status, await reply.text()]
}

const gunzip = (request: IncomingMessage): Readable => request.pipe(createGunzip())
const BROKEN = [400, expect.stringContaining('the body is incomplete or cannot be decoded')]
const KEPT = [500, expect.stringContaining('app.node()(request, response, body)')]

test('a body that the site unpacks is read', async () => {
  const { url } = await site(gunzip)
  for (let round = 0; round < 2; round++)
    expect(await post(url, gzipSync(initialize()) as Uint8Array<ArrayBuffer>)).toEqual([
      200,
      expect.stringContaining('2025-11-25'),
    ])
})

test('a body that cannot be unpacked gets 400, with the first request and later', async () => {
  const { url, logged } = await site(gunzip)
  for (let round = 0; round < 3; round++) expect(await post(url, 'not packed')).toEqual(BROKEN)
  const half = gzipSync(initialize()).subarray(0, 40) as Uint8Array<ArrayBuffer>
  expect(await post(url, half)).toEqual(BROKEN)
  expect(logged).toEqual([])
})

test('a stream that fails after its request was rejected does no harm', async () => {
  const { url } = await site(gunzip)
  for (let round = 0; round < 2; round++) {
    const [status] = await post(url, 'not packed', { ...BOTH, origin: 'https://evil.example' })
    expect(status).toBe(403)
  }
  expect((await fetch(url)).status).toBe(400)
})

test('a connection is used again after a packed body was rejected, however much it would unpack to', async () => {
  const { url } = await site(gunzip, { httpBytes: 10_000 })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const bomb = gzipSync(Buffer.alloc(30_000_000))
  expect(bomb.length).toBeLessThan(65_536)
  const send = (headers: Readonly<Record<string, string>>): Promise<[number | undefined, boolean]> =>
    new Promise((resolve, reject) => {
      const length = { 'content-length': String(bomb.length) }
      const sent = ask(url, { agent, method: 'POST', headers: { ...headers, ...length } }, (reply) => {
        reply.resume().once('end', () => resolve([reply.statusCode, sent.reusedSocket]))
      })
      sent.on('error', reject)
      sent.end(bomb)
    })
  expect(await send(BOTH)).toEqual([413, false])
  expect(await send({ ...BOTH, origin: 'https://evil.example' })).toEqual([403, true])
  expect(await send(BOTH)).toEqual([413, true])
})

test('a stream that is destroyed before its end gets 400', async () => {
  const { url } = await site(() =>
    new Readable({ read: () => undefined }).on('resume', function stop(this: Readable) {
      this.destroy()
    }),
  )
  expect(await post(url, initialize())).toEqual(BROKEN)
})

test('a stream that is destroyed, or that somebody else has read, gets 500 and a line in the log', async () => {
  const destroyed = await site(() => new PassThrough().destroy())
  expect(await post(destroyed.url, initialize())).toEqual(KEPT)
  expect(destroyed.logged).toHaveLength(1)
  const objects = await site(() => Readable.from([{ jsonrpc: '2.0' }]))
  expect(await post(objects.url, initialize())).toEqual(KEPT)
})

test('limits.bodyMs counts from the start for a stream that sends nothing', async () => {
  const { url } = await site(() => new PassThrough(), { bodyMs: 50 })
  expect((await post(url, initialize()))[0]).toBe(408)
})

test('a stream is given up when its client disconnects', async () => {
  const closed = new Deferred<void>()
  const arrived = new Deferred<void>()
  const { url } = await site(() => {
    const body = new PassThrough()
    body.once('resume', () => arrived.resolve())
    body.once('close', () => closed.resolve())
    return body
  })
  const leaving = new AbortController()
  const sent = fetch(url, { method: 'POST', body: '{', headers: { ...BOTH }, signal: leaving.signal })
  await arrived.promise
  leaving.abort()
  await expect(sent).rejects.toThrow(/aborted/)
  await closed.promise
})
