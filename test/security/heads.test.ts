import { createServer as createHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { REVISIONS, type Revision } from '../../src/protocol/revisions.ts'
import { BOTH, headed, initialize, message } from '../http/messages.ts'
import { start, tools } from '../http/server.ts'
import { post, Raw, send, type Received } from '../http/wire.ts'
import { target, type Target } from './target.ts'
import { heldBuffers } from '../harness/memory.ts'

type Sendable = Readonly<Record<string, string>>

/** What a head says, and the status that it gets. */
const HEADS: readonly (readonly [string, Sendable, number])[] = [
  ['H.origin-foreign', { origin: 'https://evil.example' }, 403],
  ['H.origin-null', { origin: 'null' }, 403],
  ['H.origin-lookalike', { origin: 'http://localhost.evil.example' }, 403],
  ['H.origin-userinfo', { origin: 'http://localhost@evil.example' }, 403],
  ['H.origin-userinfo-own', { origin: 'http://user@localhost' }, 403],
  ['H.origin-unparsable', { origin: 'http://' }, 403],
  ['H.host-foreign', { host: 'evil.example' }, 403],
  ['H.host-lookalike', { host: 'localhost.evil.example' }, 403],
  ['H.host-userinfo', { host: 'localhost@evil.example' }, 403],
  ['H.host-wildcard', { host: '0.0.0.0' }, 403],
  ['H.ctype-text', { 'content-type': 'text/plain' }, 415],
  ['H.ctype-form', { 'content-type': 'multipart/form-data' }, 415],
  ['H.ctype-disguised', { 'content-type': 'text/plain; application/json' }, 415],
  ['H.ctype-lookalike', { 'content-type': 'application/json-seq' }, 415],
  ['H.ctype-utf16', { 'content-type': 'application/json; charset=utf-16' }, 415],
  ['H.accept-none', { accept: 'text/html' }, 406],
  ['H.accept-substring', { accept: 'application/jsonx' }, 406],
  ['H.gzip-bomb', { 'content-encoding': 'gzip' }, 415],
  ['H.encoding-unknown', { 'content-encoding': 'x-none' }, 415],
  ['H.encoding-stack', { 'content-encoding': 'gzip, br, gzip' }, 415],
]

interface Door {
  post(body: string, headers: Sendable): Promise<Pick<Received, 'status' | 'text'> & { session?: string }>
}

/** Every way into a server over HTTP. */
const DOORS: Readonly<Record<string, (attacked: Target) => Promise<Door>>> = {
  listen: async ({ app }) => overPort((await start(app as never)).port),
  node: async ({ app }) => {
    const server = createHttp(app.node({ hosts: ['loopback'] }))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    onTestFinished(() => server.closeAllConnections())
    return overPort((server.address() as AddressInfo).port)
  },
  fetch: async ({ app }) => {
    const serve = app.fetchWith({ hosts: ['loopback'] })
    return {
      async post(body, headers) {
        const response = await serve(new Request('http://localhost/mcp', { method: 'POST', body, headers }))
        const session = response.headers.get('mcp-session-id') ?? ''
        return { status: response.status, text: await response.text(), session }
      },
    }
  },
}

function overPort(port: number): Door {
  return {
    async post(body, headers) {
      const { status, text, headers: got } = await post(port, body, headers)
      return { status, text, session: String(got['mcp-session-id'] ?? '') }
    },
  }
}

/** A call that is served as it stands. */
async function soundCall(door: Door, revision: Revision): Promise<{ body: string; headers: Sendable }> {
  const params = { name: 'echo', arguments: { text: 'hi' } }
  if (revision === '2026-07-28') return headed('tools/call', params)
  const { session = '' } = await door.post(initialize(revision), BOTH)
  const headers = { ...BOTH, 'mcp-session-id': session, 'mcp-protocol-version': revision }
  return { body: message('tools/call', params, 2), headers }
}

describe.each(Object.entries(DOORS))('through %s', (name, open) => {
  test.each(REVISIONS)(
    `${HEADS.map(([id]) => id).join(' ')} H.ctype-missing are refused by their heads at %s, and nothing runs [R070] [R071] [R074] [R075] [R131]`,
    async (revision) => {
      const attacked = target()
      const door = await open(attacked)
      const { body, headers } = await soundCall(door, revision)
      for (const [id, more, status] of HEADS) {
        const reply = await door.post(body, { ...headers, ...more })
        expect([id, reply.status]).toEqual([id, status])
        expect(JSON.parse(reply.text)).toMatchObject({ error: { code: -32600 } })
      }
      const { 'content-type': _type, ...untyped } = headers
      // H.ctype-missing: a web request that carries a text is given the type of one.
      expect((await door.post(body, untyped)).status).toBe(415)
      expect(attacked.ran).toBe(0)
      expect((await door.post(body, headers)).status).toBe(200)
      expect(attacked.ran).toBe(1)
    },
  )
})

const HEAD = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'

/** Bytes that are no request, the statuses that are right, and what is counted. */
const BROKEN: readonly (readonly [string, string, readonly number[], string])[] = [
  ['H.header-huge', `${HEAD}X: ${'a'.repeat(262_144)}\r\n\r\n`, [431], 'head_too_large'],
  ['H.header-many', `${HEAD}${'X: a\r\n'.repeat(20_000)}\r\n`, [431], 'head_too_large'],
  ['H.header-many', `${HEAD}${'X:\r\n'.repeat(2_000)}\r\n`, [431], 'too_many_headers'],
  [
    'H.url-huge',
    `POST /${'a'.repeat(262_144)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    [431, 414],
    'head_too_large',
  ],
  ['H.te-cl', `${HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, [400], 'bad_http'],
  ['H.te-odd', `${HEAD}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, [400], 'bad_http'],
  ['H.te-gzip', `${HEAD}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`, [400], 'bad_http'],
  ['H.chunk-bad', `${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`, [400], 'bad_http'],
  ['H.cl-bad', `${HEAD}Content-Length: -1\r\n\r\n`, [400], 'bad_http'],
  ['H.cl-bad', `${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, [400], 'bad_http'],
  ['H.header-nul', `${HEAD}X: a\0b\r\n\r\n`, [400], 'bad_http'],
  ['H.header-cr', `${HEAD}X: a\rb\r\n\r\n`, [400], 'bad_http'],
  ['H.verb-bad', 'PO ST /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n', [400], 'bad_http'],
  ['H.preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400, 505], 'bad_http'],
  ['H.preface', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', [400], 'bad_http'],
]

test.each(BROKEN)(
  '%s gets its status, is counted, and the connection ends',
  async (id, text, statuses, kind) => {
    const attacked = target()
    const { port } = await start(attacked.app as never)
    const raw = new Raw(port)
    raw.write(Buffer.from(text, 'latin1'))
    await raw.until(/\}$/)
    expect([id, statuses.includes(raw.status), raw.status]).toEqual([id, true, raw.status])
    expect(raw.text).toContain('"jsonrpc":"2.0"')
    expect([attacked.app.counts.get(kind), attacked.ran]).toEqual([1, 0])
    raw.destroy()
    expect((await post(port, initialize(), BOTH)).status).toBe(200)
  },
)

test.each(['declared', 'chunked'])(
  'H.body-64m a real body of 64 MiB, %s, is 413 and never held',
  async (how) => {
    const { port } = await start(tools())
    const before = heldBuffers()
    const raw = new Raw(port)
    const length = how === 'declared' ? 'Content-Length: 67108864' : 'Transfer-Encoding: chunked'
    raw.write(`${HEAD}${length}\r\n\r\n`)
    raw.socket.setMaxListeners(0)
    const megabyte = Buffer.alloc(1_048_576, 'x')
    for (let sent = 0; sent < 64 && !raw.closed && raw.text === ''; sent++) {
      const piece =
        how === 'declared'
          ? megabyte
          : Buffer.concat([Buffer.from('100000\r\n'), megabyte, Buffer.from('\r\n')])
      if (!raw.socket.write(piece)) await Promise.race([once(raw, 'drain'), once(raw, 'close')])
    }
    await raw.until(/\}$/)
    expect(raw.status).toBe(413)
    await raw.gone()
    // The engine frees buffers in the background, after the collection.
    await expect.poll(() => heldBuffers() - before, { timeout: 20_000 }).toBeLessThan(100_000_000)
    expect((await send(port, { body: initialize(), headers: BOTH })).status).toBe(200)
  },
)

function once({ socket }: Raw, name: string): Promise<void> {
  return new Promise((resolve) => socket.once(name, () => resolve()))
}
