import { Agent } from 'node:http'
import { describe, expect, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { createServer } from '../../src/index.ts'
import { budgetsOf } from '../../src/transport/io/budgets.ts'
import { LIMITS } from '../../src/protocol/limits.ts'
import { BOTH, call, initialize, message } from './messages.ts'
import { Gate, open, start, tools } from './server.ts'
import { post, Raw, send } from './wire.ts'
import { heldBuffers } from '../harness/memory.ts'

const HEAD = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'

/** An initialize whose text has exactly so many bytes. */
function sized(bytes: number): string {
  const text = initialize()
  return text + ' '.repeat(bytes - text.length)
}

function chunked(body: string, size: number): string {
  let text = ''
  for (let at = 0; at < body.length; at += size) {
    const chunk = body.slice(at, at + size)
    text += `${chunk.length.toString(16)}\r\n${chunk}\r\n`
  }
  return `${text}0\r\n\r\n`
}

describe('the size of a body', () => {
  const limits = { httpBytes: 10_000 }

  test.each([9_999, 10_000, 10_001])(
    'H.body-* of %i bytes is judged by the limit of 10 000, declared and chunked [S2-1.6-3]',
    async (bytes) => {
      const { port } = await start(tools(), { limits })
      const status = bytes > 10_000 ? 413 : 200
      const body = sized(bytes)
      expect((await post(port, body, BOTH)).status).toBe(status)
      const raw = await new Raw(port)
        .write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${chunked(body, 999)}`)
        .until(/\}$/)
      expect(raw.status).toBe(status)
      raw.destroy()
    },
  )

  test('H.body-64m is refused with the limit in the reply [S2-1.6-8]', async () => {
    const { port } = await start(tools(), { limits })
    const reply = await post(port, 'x'.repeat(20_000), BOTH)
    expect(reply.status).toBe(413)
    expect(reply.json['error']).toMatchObject({
      code: -32600,
      message: expect.stringContaining('10000'),
      data: { refusal: { code: 1068 } },
    })
  })

  test('the limits are those that were asked for [S2-1.6-1] [S2-1.6-3]', () => {
    expect([LIMITS.stdioBytes.usual, LIMITS.httpBytes.usual]).toEqual([10 * 1024 * 1024, 50 * 1024 * 1024])
  })

  test('H.cl-10g a body that is declared too large is refused before a byte of it, and the connection closed', async () => {
    const { port } = await start()
    const raw = await new Raw(port).write(`${HEAD}Content-Length: 10000000000\r\n\r\n`).until(/\}$/)
    expect([raw.status, /connection: close/i.test(raw.text)]).toEqual([413, true])
    await raw.gone()
  })

  test('H.body-endless an endless body is aborted and never buffered', async () => {
    const { port } = await start(tools(), { limits: { httpBytes: 1_000_000 } })
    const raw = new Raw(port)
    raw.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`)
    const chunk = Buffer.from(`10000\r\n${'x'.repeat(65_536)}\r\n`)
    const before = heldBuffers()
    let sent = 0
    const pump = (): void => {
      while (!raw.closed && sent < 200_000_000) {
        sent += chunk.length
        if (!raw.socket.write(chunk)) return void raw.socket.once('drain', pump)
      }
    }
    pump()
    await raw.until(/\}$/)
    expect(raw.status).toBe(413)
    await raw.gone()
    expect(sent).toBeLessThan(100_000_000)
    await expect.poll(() => heldBuffers() - before, { timeout: 20_000 }).toBeLessThan(50_000_000)
  })

  test.each([
    ['a foreign page', 'Origin: https://evil.example\r\n', 403],
    ['another type', 'Content-Type: text/plain\r\n', 415],
    ['no acceptable type', 'Accept: text/html\r\n', 406],
  ])('H.refused-body of %s the body is not read', async (_, header, status) => {
    const { port } = await start()
    const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${header.startsWith('Content-Type') ? '' : 'Content-Type: application/json\r\n'}`
    const raw = new Raw(port).write(`${head}${header}Content-Length: 40000000\r\n\r\n`)
    await raw.until(/\}$/)
    expect(raw.status).toBe(status)
    await raw.gone()
  })

  test('a client that is still sending gets to see the refusal', async () => {
    const { port } = await start(tools(), { limits: { httpBytes: 100_000 } })
    for (let each = 0; each < 10; each++) {
      expect((await post(port, 'x'.repeat(5_000_000), BOTH)).status).toBe(413)
    }
  })

  test('a small refused body costs no connection', async () => {
    const { port } = await start()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let each = 0; each < 3; each++) {
      const reply = await send(port, {
        body: initialize(),
        headers: { ...BOTH, 'content-type': 'text/plain' },
        agent,
      })
      expect([reply.status, reply.headers.connection]).toEqual([415, 'keep-alive'])
    }
    agent.destroy()
  })

  test('all bodies together have a limit', async () => {
    const { port } = await start(tools(), { limits: { unparsedBytes: 100_000 } })
    const held = new Raw(port).write(`${HEAD}Content-Length: 200000\r\n\r\n${'x'.repeat(90_000)}`)
    await expect.poll(async () => (await post(port, 'x'.repeat(20_000), BOTH)).status).toBe(429)
    held.destroy()
    await expect.poll(async () => (await post(port, sized(20_000), BOTH)).status).toBe(200)
  })

  test('large messages arrive whole', async () => {
    const { port } = await start()
    const session = await open(port)
    const text = 'ü'.repeat(3_000_000)
    expect((await session.post(call('echo', { text }))).json['result']).toMatchObject({ content: [{ text }] })
  })
})

describe('slow clients', () => {
  test('H.slow-headers a head that never arrives times out', async () => {
    const { port } = await start(tools(), { limits: { headersMs: 200 } })
    const raw = await new Raw(port).write('POST /mcp HTTP/1.1\r\nHost: local').gone()
    expect([0, 408]).toContain(raw.status)
  })

  test('H.slow-body a body that never arrives times out', async () => {
    const { port } = await start(tools(), { limits: { bodyMs: 200 } })
    const raw = await new Raw(port).write(`${HEAD}Content-Length: 100\r\n\r\n{"json`).gone()
    expect([0, 408]).toContain(raw.status)
    expect((await post(port, initialize(), BOTH)).status).toBe(200)
  })

  test('limits that are off never strike', async () => {
    const off = Number.POSITIVE_INFINITY
    const { port, endpoint } = await start(tools(), {
      limits: { headersMs: off, bodyMs: off, keepAliveMs: off, drainMs: off },
    })
    const body = initialize()
    const raw = new Raw(port).write(
      `${HEAD}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body.slice(0, 9)}`,
    )
    await new Promise((resolve) => setTimeout(resolve, 50))
    raw.write(body.slice(9))
    expect((await raw.gone()).status).toBe(200)
    await endpoint.close()
  })

  test('H.idle-500 silent sockets do not delay others', async () => {
    const { port } = await start()
    const idle = Array.from({ length: 500 }, () => new Raw(port))
    await Promise.all(idle.map(({ socket }) => new Promise((resolve) => socket.once('connect', resolve))))
    expect((await post(port, initialize(), BOTH)).status).toBe(200)
    for (const one of idle) one.destroy()
  })
})

describe('broken clients', () => {
  test('H.half-close a body that ends early does no harm', async () => {
    const { port } = await start()
    const raw = new Raw(port).write(`${HEAD}Content-Length: 100\r\n\r\n{"json`)
    raw.socket.end()
    await raw.gone()
    expect((await post(port, initialize(), BOTH)).status).toBe(200)
  })

  test('H.half-close a client that closes its side after the request gets the reply', async () => {
    const { port } = await start()
    const body = initialize()
    const raw = new Raw(port).write(`${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`)
    raw.socket.end()
    expect((await raw.until(/\}$/)).status).toBe(200)
    raw.destroy()
  })

  test('H.pipeline fifty requests in one piece are all answered in order', async () => {
    const { port } = await start()
    const session = await open(port)
    let text = ''
    for (let id = 1; id <= 50; id++) {
      const body = message('ping', {}, id)
      text += `${HEAD}Mcp-Session-Id: ${session.id}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    }
    const raw = await new Raw(port).write(text).until(/"id":50,/)
    expect([...raw.text.matchAll(/"id":(\d+),"result"/g)].map(([, id]) => Number(id))).toEqual(
      Array.from({ length: 50 }, (_, at) => at + 1),
    )
    raw.destroy()
  })

  test.each([
    ['H.te-cl', `${HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['H.te-odd', `${HEAD}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['H.chunk-bad', `${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
    ['H.cl-bad', `${HEAD}Content-Length: -1\r\n\r\n`],
    ['H.cl-bad', `${HEAD}Content-Length: 1, 2\r\n\r\n`],
    ['H.cl-bad', `${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    ['H.header-nul', `${HEAD}X: a\0b\r\n\r\n`],
    ['H.header-cr', `${HEAD}X: a\rb\r\n\r\n`],
    ['H.header-fold', `${HEAD}X: a\r\n b\r\nContent-Length: 0\r\n\r\n`],
    ['H.verb-bad', `PO ST /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n`],
    ['H.header-huge', `${HEAD}X: ${'a'.repeat(262_144)}\r\n\r\n`],
    ['H.header-many', `${HEAD}${'X: a\r\n'.repeat(20_000)}\r\n`],
    ['H.url-huge', `POST /${'a'.repeat(262_144)} HTTP/1.1\r\nHost: localhost\r\n\r\n`],
    ['H.preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['H.preface', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['H.preface', '\x05\x01\x00'],
    ['H.preface', '\0\0\0\0\r\n\r\n'],
  ])('%s is refused or dropped', async (_, text) => {
    const { port } = await start(tools(), { limits: { headersMs: 500 } })
    const raw = new Raw(port)
    raw.write(Buffer.from(text, 'latin1'))
    await raw.until(/\r\n\r\n/)
    expect(raw.status === 0 || (raw.status >= 400 && raw.status < 500)).toBe(true)
    raw.destroy()
    expect((await post(port, initialize(), BOTH)).status).toBe(200)
  })

  test('H.header-proto headers named like members of objects change nothing', async () => {
    const { port } = await start()
    const reply = await post(port, initialize(), {
      ...BOTH,
      ['__proto__']: 'x',
      constructor: 'y',
      'has-own-property': 'z',
    })
    expect(reply.status).toBe(200)
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })
})

test.each([
  ['sends nothing', 0],
  ['sends a part', 90_000],
])(
  'over fetch, a body that %s and stalls is given up in time, and its bytes are free again',
  async (_what, size) => {
    const limits = { bodyMs: 1, unparsedBytes: 100_000, httpBytes: 100_000 }
    const app = createServer({ name: 'x', version: '1', log: () => undefined, limits })
    let isCancelled = false
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => (size === 0 ? undefined : stream.enqueue(new Uint8Array(size).fill(32))),
      cancel: () => void (isCancelled = true),
    })
    const ask = (sent: unknown): Promise<Response> => {
      const init = { method: 'POST', headers: BOTH, body: sent, duplex: 'half' } as RequestInit
      return app.fetch(new Request('http://localhost/mcp', init))
    }
    const stalled = await ask(body)
    expect([stalled.status, isCancelled, app.counts.get('slow_sender')]).toEqual([408, true, 1])
    expect(budgetsOf(serviceOf(app), app.limits).read.total).toBe(0)
    expect((await ask(sized(90_000))).status).toBe(200)
  },
)

/** A batch of calls at 2025-03-26 while another call runs, so that its members are queued or rejected. */
async function queueBatch(
  members: number,
  pad: number,
  isChunked: boolean,
): Promise<ReadonlyMap<string, number>> {
  const gate = new Gate()
  const limits = { allInFlight: 1, inFlightBytes: 20_000 }
  const app = createServer({ name: 'x', version: '1', log: () => undefined, limits })
  const input = { type: 'object', properties: { pad: { type: 'string' } } } as const
  app.tool('wait', { input }, async () => {
    gate.enter()
    await gate.opened
    return 'ok'
  })
  const { port } = await start(app, { limits })
  const session = await open(port, '2025-03-26')
  const running = session.post(call('wait', {}, 1))
  await gate.entered
  const batch = `[${Array.from({ length: members }, (_, at) => call('wait', { pad: 'x'.repeat(pad) }, at + 2)).join()}]`
  const headers = isChunked ? { 'transfer-encoding': 'chunked' } : {}
  const answered = session.post(batch, headers)
  const { load, observers } = serviceOf(app)
  await expect.poll(() => load.waiting + (observers.counts.get('too_much_in_flight') ?? 0)).toBe(members)
  gate.open()
  await Promise.all([running, answered])
  return app.counts
}

test.each([
  ['with Content-Length', false],
  ['in chunks', true],
])('queued members of a batch %s count as much as the batch itself', async (_how, isChunked) => {
  expect([...(await queueBatch(20, 300, isChunked))]).toEqual([])
  expect([...(await queueBatch(5, 100_000, isChunked))]).toEqual([['too_much_in_flight', 5]])
})
