import type { ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { serve, type Peer } from '../http-client/peer.ts'
import { testAuth } from './core-auth.ts'
import { failure, logInSlowly, SHORT } from './core-guarded.ts'

const INFO = { capabilities: { tools: {} }, serverInfo: { name: 'old', version: '1' } }

interface Old extends Peer {
  /** The credentials of each accepted request. */
  readonly shown: string[]
}

/** A server with only the transport of 2024-11-05 that accepts the tokens `good` and `anna`. */
async function old(instead?: (stream: ServerResponse, posted: ServerResponse) => void): Promise<Old> {
  const shown: string[] = []
  let stream: ServerResponse | undefined
  const peer = await serve(({ verb, url, headers, message, body }, response) => {
    const isPost = verb === 'POST'
    if (isPost && !url.includes('?in')) return void response.writeHead(405).end()
    const { authorization = '' } = headers
    if (!/^Bearer (?:good|anna)$/.test(authorization))
      return void response.writeHead(401, { 'www-authenticate': 'Bearer realm="old"' }).end()
    shown.push(`${verb} ${authorization}`)
    if (!isPost) {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' })
      return void response.write('event: endpoint\ndata: ?in\n\n')
    }
    const { id, method } = message
    if (method === 'tools/call' && instead !== undefined) return instead(stream as ServerResponse, response)
    response.writeHead(202).end()
    if (id === undefined) return
    const { protocolVersion } = (JSON.parse(body) as { params: { protocolVersion?: string } }).params
    const text = authorization.slice('Bearer '.length)
    const result =
      method === 'initialize' ? { ...INFO, protocolVersion } : { content: [{ type: 'text', text }] }
    stream?.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`)
  })
  return { ...peer, of: (verb) => peer.of(verb), shown }
}

test('over HTTP+SSE the stream and every message carry the credentials', async () => {
  const { url, shown } = await old()
  const auth = testAuth(undefined, () => 'good')
  await using client = await connect(url, { auth })
  expect(await client.call('who')).toBe('good')
  expect(shown).toEqual(['GET Bearer good', 'POST Bearer good', 'POST Bearer good', 'POST Bearer good'])
  expect(auth.asked.servers).toHaveLength(1)
  expect(auth.asked.renewals).toBe(1)
  expect(new Set(auth.asked.requests.map(({ verb }) => verb))).toEqual(new Set(['POST', 'GET']))
  expect(await client.call('who', {}, { auth: testAuth('anna') })).toBe('anna')
  expect(await client.call('who')).toBe('good')
})

test('credentials in headers give way to those of a call', async () => {
  const { url } = await old()
  await using client = await connect(url, { headers: { authorization: 'Bearer good' } })
  expect(await client.call('who', {}, { auth: testAuth('anna') })).toBe('anna')
})

test('a login for the stream that fails is the error of connecting', async () => {
  const { url } = await old()
  const auth = testAuth(undefined)
  expect(await failure(connect(url, { auth }))).toMatchObject({ kind: 'login_failed' })
  expect(auth.asked.renewals).toBe(1)
})

test('a login for the stream takes none of the time for connecting', async () => {
  const { url } = await old()
  const auth = testAuth(undefined, (request) => logInSlowly(request))
  await using client = await connect(url, { auth, ...SHORT })
  expect(await client.call('who')).toBe('good')
})

test('an answer that fails before its message was accepted is the error of the call, and nothing else', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  let accept: (() => void) | undefined
  const { url } = await old((stream, posted) => {
    accept = () => posted.writeHead(202).end()
    stream.write(`event: message\ndata: ${'x'.repeat(20_000)}\n\n`)
    // The second one arrives after the first was read.
    stream.write(
      'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\n\n',
    )
  })
  await using client = await connect(url, { auth: testAuth('good'), limits: { clientBytes: 10_000 } })
  const logged = new Promise<void>((resolve) => void client.on('log', () => resolve()))
  const call = failure(client.call('who'))
  await logged
  await new Promise((resolve) => void setImmediate(resolve))
  accept?.()
  expect(await call).toMatchObject({ kind: 'answer_too_large' })
  expect(unhandled).toEqual([])
})
