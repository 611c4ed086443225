import { describe, expect, test } from 'vitest'
import type { App } from '../../src/index.ts'
import { BOTH, call, headed, initialize, message } from './messages.ts'
import { Gate, open, start, tools } from './server.ts'
import { begin, post, Raw, stream } from './wire.ts'

const TOKEN = { progressToken: 't' }

/** A tool that sends large notices until it is stopped or has sent enough. */
function flooding(): { readonly app: App; readonly over: Promise<string>; readonly sent: () => number } {
  const big = 'x'.repeat(100_000)
  let sent = 0
  let finish: (how: string) => void
  const over = new Promise<string>((resolve) => (finish = resolve))
  const app = tools().tool('flood', {}, async (_, { signal, notify }) => {
    while (!signal.aborted && sent < 2000) {
      notify('notifications/progress', { progressToken: 't', progress: ++sent, message: big })
      await new Promise((resolve) => setImmediate(resolve))
    }
    finish(signal.aborted ? 'stopped' : 'finished')
    return 'done'
  })
  return { app, over, sent: () => sent }
}

describe('a client that does not read', () => {
  const limits = { streamBytes: 500_000 }

  test('H.slow-reader F12 at 2026-07-28 is aborted, its request cancelled, and little is buffered', async () => {
    const { app, over, sent } = flooding()
    const { port, endpoint } = await start(app, { limits })
    const { body, headers } = headed('tools/call', { name: 'flood', _meta: TOKEN })
    const before = process.memoryUsage().rss
    const response = await begin(port, { body, headers })
    response.pause()
    response.on('error', () => undefined)
    expect(await over).toBe('stopped')
    expect(sent()).toBeLessThan(500)
    await expect.poll(() => endpoint.running).toBe(0)
    expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000)
    response.destroy()
  })

  test('H.slow-reader in a session is aborted, the work continues, and the answer is kept for its return', async () => {
    const { app, over } = flooding()
    const { port } = await start(app, { limits })
    const session = await open(port)
    const response = await begin(port, { body: call('flood', {}, 2, TOKEN), headers: session.headers })
    response.pause()
    response.on('error', () => undefined)
    expect(await over).toBe('finished')
    const rest = await (await session.get('r1_0')).end()
    expect(rest.raw.length).toBeLessThan(1_000_000)
    expect(rest.messages.at(-1)).toMatchObject({ id: 2, result: { content: [{ text: 'done' }] } })
  })

  test('F8 a reader that reads nothing between two comments is aborted, however little is waiting', async () => {
    const gate = new Gate()
    const app = tools().tool('quiet', {}, async (_, { signal, notify }) => {
      signal.addEventListener('abort', () => gate.open())
      // More than the kernel takes for a reader that does not read.
      for (let each = 0; each < 80; each++)
        notify('notifications/progress', { progressToken: 't', progress: each, message: 'x'.repeat(100_000) })
      await gate.opened
    })
    const { port, endpoint } = await start(app, { limits: { keepAliveMs: 50, streamBytes: 100_000_000 } })
    const { body, headers } = headed('tools/call', { name: 'quiet', _meta: TOKEN })
    const response = await begin(port, { body, headers })
    response.pause()
    response.on('error', () => undefined)
    await gate.opened
    await expect.poll(() => endpoint.running).toBe(0)
    response.destroy()
  })

  test('F12 a reader that does not read a large answer is aborted after a while', async () => {
    const app = tools().tool('large', {}, () => 'x'.repeat(20_000_000))
    const { port } = await start(app, { limits: { bodyMs: 300 } })
    const { body, headers } = headed('tools/call', { name: 'large' })
    const response = await begin(port, { body, headers })
    response.pause()
    response.on('error', () => undefined)
    const closed = new Promise((resolve) => response.socket.once('close', resolve))
    await new Promise((resolve) => setTimeout(resolve, 1000))
    response.resume()
    await closed
    expect(response.complete).toBe(false)
  })

  test('over fetch it is aborted too', async () => {
    const { app, over, sent } = flooding()
    Object.assign(app, { limits: { ...app.limits, ...limits } })
    const { body, headers } = headed('tools/call', { name: 'flood', _meta: TOKEN })
    const reply = await app.fetch(new Request('http://localhost/mcp', { method: 'POST', body, headers }))
    expect(await over).toBe('stopped')
    expect(sent()).toBeLessThan(20)
    await expect(reply.text()).rejects.toThrow(/too slowly/)
  })

  test('does not keep others waiting', async () => {
    const { app } = flooding()
    const { port } = await start(app, { limits })
    const { body, headers } = headed('tools/call', { name: 'flood', _meta: TOKEN })
    const slow = await Promise.all(Array.from({ length: 10 }, () => begin(port, { body, headers })))
    for (const response of slow) {
      response.pause()
      response.on('error', () => undefined)
    }
    expect((await post(port, initialize(), BOTH)).status).toBe(200)
    for (const response of slow) response.destroy()
  })
})

describe('clients that vanish', () => {
  test('H.abort-200 two hundred in the middle of a call leave nothing behind', async () => {
    const app = tools().tool('pause', {}, async (_, { progress, signal }) => {
      progress(1)
      for (let step = 0; step < 50 && !signal.aborted; step++)
        await new Promise((resolve) => setImmediate(resolve))
      progress(2)
      return 'done'
    })
    const { port, endpoint } = await start(app)
    const session = await open(port)
    const asks = Array.from({ length: 200 }, async (_, at) => {
      const { body, headers } =
        at % 2 === 0
          ? { body: call('pause', {}, at + 10, { progressToken: at }), headers: session.headers }
          : headed('tools/call', { name: 'pause', _meta: { progressToken: at } }, at)
      const one = await stream(port, { body, headers })
      one.drop()
    })
    await Promise.all(asks)
    await expect.poll(() => endpoint.running).toBe(0)
    expect(endpoint.sessions.get(session.id, undefined).calls.size).toBe(0)
    expect((await session.post(message('ping', {}, 1))).status).toBe(200)
  })

  test('H.reset-stream a hundred connections that are reset leave no handle behind', async () => {
    const { port } = await start()
    const count = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
    const before = count()
    const raws = Array.from({ length: 100 }, () => {
      const { body, headers } = headed('tools/call', {
        name: 'steps',
        arguments: { count: 50 },
        _meta: TOKEN,
      })
      const head = Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')
      return new Raw(port).write(
        `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`,
      )
    })
    await Promise.all(raws.map((raw) => raw.until(/event-stream/)))
    for (const { socket } of raws) socket.resetAndDestroy()
    await expect.poll(count).toBeLessThanOrEqual(before)
  })
})
