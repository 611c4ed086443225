import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { META } from '../../src/protocol/meta.ts'
import { BOTH, call, ENVELOPE, headed, initialize, message } from '../http/messages.ts'
import { open, start } from '../http/server.ts'
import { post, Raw, send, stream } from '../http/wire.ts'
import { SECRET_PATH, SECRET_WORD, target } from './target.ts'
import { heldHeap } from '../harness/memory.ts'

async function serve(
  limits = {},
): Promise<Awaited<ReturnType<typeof start>> & { readonly attacked: ReturnType<typeof target> }> {
  const attacked = target()
  return { attacked, ...(await start(attacked.app as never, { limits })) }
}

const echo = call('echo', { text: 'x' })

describe('heads', () => {
  test.each([
    'http://user@localhost',
    'http://user:word@127.0.0.1',
    'http://@localhost',
    'http://localhost@',
    'http://localhost, http://localhost',
  ])('H.origin-userinfo-own H.origin-verbs an Origin of %s is 403 on every verb [R070]', async (origin) => {
    const { port } = await serve()
    const session = await open(port)
    for (const method of ['POST', 'GET', 'DELETE', 'OPTIONS']) {
      const reply = await send(port, {
        method,
        body: method === 'POST' ? echo : '',
        headers: { ...session.headers, origin },
      })
      expect([method, reply.status]).toEqual([method, 403])
    }
    expect((await session.post(message('ping', {}, 1))).status).toBe(200)
  })

  test.each([
    ['H.host-none', 'POST /mcp HTTP/1.1\r\n'],
    ['H.host-none', 'POST /mcp HTTP/1.0\r\n'],
    [
      'H.host-rebinding',
      'POST /mcp HTTP/1.1\r\nHost: attacker.example:3000\r\nOrigin: http://attacker.example:3000\r\n',
    ],
    ['H.host-dot', 'POST /mcp HTTP/1.1\r\nHost: localhost.\r\n'],
    ['H.host-numeric', 'POST /mcp HTTP/1.1\r\nHost: 2130706433\r\n'],
    ['H.host-numeric', 'POST /mcp HTTP/1.1\r\nHost: 0x7f.1\r\n'],
    ['H.host-spaces', 'POST /mcp HTTP/1.1\r\nHost: localhost evil\r\n'],
    [
      'H.te-twice',
      'POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n',
    ],
    ['H.cl-twice', 'POST /mcp HTTP/1.1\r\nHost: localhost:1\r\nContent-Length: 1\r\nContent-Length: 2\r\n'],
  ])('%s %j runs nothing', async (_, head) => {
    const { port, endpoint } = await serve()
    const body = Buffer.from(initialize())
    const framed = head.includes('Transfer')
      ? Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')])
      : body
    const length = /Transfer|Content-Length/.test(head) ? '' : `Content-Length: ${body.length}\r\n`
    const raw = new Raw(port)
      .write(`${head}Content-Type: application/json\r\nConnection: close\r\n${length}\r\n`)
      .write(framed)
    await raw.gone()
    expect(raw.status).toBeGreaterThanOrEqual(400)
    expect(raw.status).toBeLessThan(500)
    expect(endpoint.sessions.size).toBe(0)
  })

  test.each([
    ['gzip, chunked', gzipSync(initialize())],
    ['gzip, chunked', Buffer.from(initialize())],
    ['GZIP\t,CHUNKED', Buffer.from(initialize())],
    ['gzip\r\nTransfer-Encoding: chunked', Buffer.from(initialize())],
    ['identity, chunked', Buffer.from(initialize())],
  ])('H.te-gzip the transfer coding %j is 501, whatever the body', async (coding, body) => {
    const { port, endpoint } = await serve()
    const raw = new Raw(port)
      .write('POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n')
      .write(`Transfer-Encoding: ${coding}\r\nConnection: close\r\n\r\n${body.length.toString(16)}\r\n`)
      .write(Buffer.concat([body, Buffer.from('\r\n0\r\n\r\n')]))
    await raw.gone()
    expect(raw.status).toBe(501)
    expect(endpoint.sessions.size).toBe(0)
  })

  test('H.te-gzip a chunked body is read', async () => {
    const { port } = await serve()
    const reply = await send(port, {
      body: initialize(),
      headers: { ...BOTH, 'transfer-encoding': 'Chunked' },
    })
    expect(reply.status).toBe(200)
  })

  test('H.header-hidden a header behind very many others counts like any, where so many are allowed', async () => {
    const { port, endpoint } = await serve({ headers: 3000 })
    const many = Array.from({ length: 2500 }, () => 'a:\r\n').join('')
    const body = initialize()
    const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`
    for (const last of ['Origin: https://evil.example', 'Host: localhost', 'Content-Encoding: gzip']) {
      const raw = await new Raw(port).write(`${head}${many}${last}\r\n\r\n${body}`).until(/\r\n\r\n/)
      expect([last, raw.status]).toEqual([last, last.startsWith('Content') ? 415 : 403])
      raw.destroy()
    }
    expect(endpoint.sessions.size).toBe(0)
  })

  test('H.error-leak no error shows a stack, a path, a secret, or what the server is made of', async () => {
    const { port } = await serve()
    const session = await open(port)
    const boom = headed('tools/call', { name: 'boom' })
    const replies = [
      await session.post(call('boom')),
      await session.post(message('prompts/get', { name: 'boom' }, 3)),
      await session.post(message('resources/read', { uri: 'note://boom' }, 4)),
      await post(port, boom.body, boom.headers),
      await post(port, '{', BOTH),
      await post(port, echo, { ...BOTH, 'mcp-session-id': 'x' }),
      await post(port, echo, { ...BOTH, host: 'evil.example' }),
      await send(port, { path: '/nowhere' }),
      await send(port, { path: '/mcp/../../etc/passwd' }),
      await send(port, { method: 'PUT' }),
    ]
    for (const reply of replies) {
      const whole = reply.text + JSON.stringify(reply.headers)
      expect(whole).not.toMatch(/node_modules|\.ts:\d|\bat \S+ \(|:\d+:\d+\)|x-powered-by|<html/i)
      expect(whole).not.toContain(SECRET_PATH)
      expect(whole).not.toContain(SECRET_WORD)
      expect(reply.headers).not.toHaveProperty('server')
    }
  })
})

describe('sessions', () => {
  test('S.get-accept GET that takes no events is refused, and takes no stream away [R079]', async () => {
    const { port } = await serve()
    const session = await open(port)
    const stays = await session.get()
    const refused = await send(port, {
      method: 'GET',
      headers: { ...session.headers, accept: 'application/json' },
    })
    expect(refused.status).toBe(406)
    expect(stays.ended).toBe(false)
    stays.drop()
  })

  test('S.flood three hundred sessions that are abandoned are served beside others, and little is held for each', async () => {
    const { port, endpoint } = await serve({ sessions: 300 })
    const before = heldHeap()
    for (let at = 0; at < 300; at++) await open(port)
    expect(endpoint.sessions.size).toBe(300)
    expect(heldHeap() - before).toBeLessThan(100_000_000)
    expect((await post(port, initialize(), BOTH)).status).toBe(503)
    const modern = headed('tools/call', { name: 'echo', arguments: { text: 'x' } })
    expect((await post(port, modern.body, modern.headers)).status).toBe(200)
  })

  test('S.pipeline requests of two sessions on one connection never mix', async () => {
    const { port } = await serve()
    const sessions = await Promise.all([open(port), open(port)])
    const raw = new Raw(port)
    const texts = Array.from({ length: 40 }, (_, at) => {
      const body = call('echo', { text: `said ${at}` }, at)
      const { id } = sessions[at % 2] as { id: string }
      return `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\nContent-Type: application/json\r\nMcp-Session-Id: ${id}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    })
    await raw.write(texts.join('')).until(/said 39/)
    const said = [...raw.text.matchAll(/"id":(\d+).*?said (\d+)/g)].map(([, id, text]) => [id, text])
    expect(said).toEqual(Array.from({ length: 40 }, (_, at) => [`${at}`, `${at}`]))
    raw.destroy()
  })
})

describe('2026-07-28', () => {
  test.each([
    '=?base64?ZWNobw?=',
    '=?base64?ZWNobw=?=',
    '=?base64?ZWNo bw==?=',
    '=?base64?////?=',
    '=?base64?ZWNobw==',
    'ZWNobw==',
    '=?BASE64?ZWNobw==?=',
  ])('N.base64 a name that is encoded as %s is refused [R116]', async (name) => {
    const { port, attacked } = await serve()
    const { headers, body } = headed('tools/call', { name: 'echo', arguments: { text: 'x' } })
    const reply = await post(port, body, { ...headers, 'mcp-name': name })
    expect([reply.status, reply.json]).toMatchObject([400, { error: { code: -32020 } }])
    expect(attacked.ran).toBe(0)
  })

  test('N.dup-key-header a body that says two things satisfies no header', async () => {
    const { port, attacked } = await serve()
    const { headers, body } = headed('tools/call', { name: 'echo', arguments: { text: 'x' } })
    const spoilt = [
      body.replace('"name":"echo"', '"name":"any","name":"echo"'),
      body.replace('"name":"echo"', '"name":"echo","name":"any"'),
      body.replace('"name":"echo"', '"name":"echo","n\\u0061me":"any"'),
      body.replace('"method":"tools/call"', '"method":"tools/call","method":"tools/list"'),
      body.replace('"_meta":{', '"_meta":{},"_meta":{'),
      body.replace(
        `"${META.protocolVersion}"`,
        `"${META.protocolVersion}":"2025-11-25","${META.protocolVersion}"`,
      ),
    ]
    for (const text of spoilt) {
      const reply = await post(port, text, headers)
      expect([reply.status, reply.json]).toMatchObject([400, { error: { code: -32600 } }])
    }
    expect(attacked.ran).toBe(0)
  })

  test.each([undefined, null, 5, 'all', [], [{}]])(
    'N.capabilities capabilities of %j are refused [R044]',
    async (capabilities) => {
      const { port, attacked } = await serve()
      const _meta = { ...ENVELOPE, [META.clientCapabilities]: capabilities }
      const { headers, body } = headed('tools/call', { name: 'echo', arguments: { text: 'x' }, _meta })
      const reply = await post(port, body, headers)
      expect([reply.status, reply.json]).toMatchObject([400, { error: { code: -32602 } }])
      expect(attacked.ran).toBe(0)
    },
  )

  test('N.batch a batch under the headers of 2026-07-28 does not run through a session of 2025-03-26 [R016]', async () => {
    const { port, attacked } = await serve()
    const session = await open(port, '2025-03-26')
    const { headers, body } = headed('tools/call', { name: 'echo', arguments: { text: 'x' } })
    for (const more of [headers, { ...headers, 'mcp-protocol-version': '2025-03-26' }, {}]) {
      const reply = await session.post(`[${body},${body.replace('"id":1', '"id":2')}]`, more)
      expect([reply.status, reply.json]).toMatchObject([400, { error: { code: -32600 } }])
    }
    expect(attacked.ran).toBe(0)
  })

  test('N.downgrade N.session-ignored a session lends nothing to a request of 2026-07-28, nor the other way round [R130]', async () => {
    const { port, attacked } = await serve()
    const session = await open(port, '2025-11-25', { elicitation: {} })
    const { headers, body } = headed('tools/call', { name: 'echo', arguments: { text: 'x' } })
    const id = { 'mcp-session-id': session.id }
    expect((await post(port, body, { ...headers, ...id, 'mcp-protocol-version': '2025-11-25' })).status).toBe(
      400,
    )
    expect((await post(port, body, { ...BOTH, ...id })).status).toBe(400)
    expect((await post(port, echo, { ...headers, ...id })).status).toBe(400)
    expect(attacked.ran).toBe(0)
    expect((await post(port, body, { ...headers, ...id })).status).toBe(200)
    expect((await post(port, body, { ...headers, 'mcp-session-id': '__proto__' })).status).toBe(200)
  })

  test('N.listen-flood there are at most as many listeners as sessions, and a place is free again when one goes', async () => {
    const { port, endpoint } = await serve({ sessions: 20 })
    const { headers, body } = headed('subscriptions/listen', { notifications: { toolsListChanged: true } })
    const streams = await Promise.all(Array.from({ length: 20 }, () => stream(port, { headers, body })))
    for (const each of streams) await each.until(({ messages }) => messages.length === 1)
    const refused = await post(port, body, headers)
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '30'])
    const modern = headed('tools/call', { name: 'echo', arguments: { text: 'x' } })
    expect((await post(port, modern.body, modern.headers)).status).toBe(200)
    streams[0]?.drop()
    while (endpoint.running === 20) await new Promise((resolve) => setImmediate(resolve))
    const next = await stream(port, { headers, body })
    expect(next.status).toBe(200)
    for (const each of [...streams, next]) each.drop()
  })

  test.each([
    ['null', null],
    ['a number', 5],
    ['a list', []],
    ['a word for a boolean', { toolsListChanged: 'yes' }],
    ['a URI for a list', { resourceSubscriptions: 'item://1' }],
    ['a number for a URI', { resourceSubscriptions: [5] }],
    ['a very long URI', { resourceSubscriptions: [`item://${'1'.repeat(8192)}`] }],
    ['too many URIs', { resourceSubscriptions: Array.from({ length: 1001 }, (_, at) => `item://${at}`) }],
  ])('N.listen-odd a filter with %s is refused [R012]', async (_, notifications) => {
    const { port, endpoint } = await serve()
    const { headers, body } = headed('subscriptions/listen', { notifications })
    const reply = await post(port, body, headers)
    expect([reply.status, reply.json]).toMatchObject([200, { error: { code: -32602 } }])
    expect(endpoint.running).toBe(0)
  })
})
