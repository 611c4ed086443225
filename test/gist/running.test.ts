import { createServer as createHttp } from 'node:http'
import express from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import { endpointsOf, serviceOf } from '../../src/app/app.ts'
import type { App } from '../../src/index.ts'
import type { HttpIn } from '../../src/transport/http/server/parts.ts'
import { JSON_TYPE } from '../http/messages.ts'
import { Gate } from '../http/server.ts'
import { begin } from '../http/wire.ts'
import { listen } from '../mounts/tour.ts'
import { envelope, follow, post, shake, start, tools } from './server.ts'

/** A tool that waits until it is let go, and says how it ended. */
function waiting(app: App): { readonly gate: Gate; readonly stopped: Promise<unknown> } {
  const gate = new Gate()
  let stop: (reason: unknown) => void
  const stopped = new Promise((resolve) => (stop = resolve))
  app.tool('wait', {}, async (_input, { signal, progress }) => {
    signal.addEventListener('abort', () => stop(signal.reason))
    progress(1, 2)
    gate.enter()
    await Promise.race([gate.opened, stopped])
    return 'waited'
  })
  return { gate, stopped }
}

test('a call that runs does not keep the text of its body', async () => {
  const app = tools()
  const { gate } = waiting(app)
  await start(app)
  const body = JSON.stringify(envelope('wait'))
  const request: HttpIn = { method: 'POST', header: () => undefined, body, onGone: () => undefined }
  const out = [...endpointsOf(app)][0]?.extraEndpoints[0]?.answer(request)
  await gate.entered
  expect([request.body, request.size]).toEqual(['', body.length])
  gate.open()
  expect((await out)?.status).toBe(200)
})

describe('a client that goes away', () => {
  test('cancels its call, with a reply or with a stream', async () => {
    for (const accept of ['application/json', 'text/event-stream']) {
      const app = tools()
      const { gate, stopped } = waiting(app)
      const { port } = await start(app)
      const body = JSON.stringify(envelope('wait'))
      const controller = new AbortController()
      const asked = fetch(`http://127.0.0.1:${port}/gist`, {
        method: 'POST',
        body,
        headers: { ...JSON_TYPE, accept },
        signal: controller.signal,
      }).then((response) => response.text())
      asked.catch(() => undefined)
      await gate.entered
      controller.abort()
      await expect(asked).rejects.toThrow('aborted')
      expect(await stopped).toMatchObject({ kind: 'connection_closed' })
      await expect.poll(() => serviceOf(app).load.running).toBe(0)
    }
  })

  test('does not stop the calls of others', async () => {
    const app = tools()
    const { gate } = waiting(app)
    const { port } = await start(app)
    const { session } = await shake(port)
    const stays = post(port, envelope('wait', {}, { session }))
    const leaves = await follow(port, envelope('wait', {}, { session }))
    leaves.drop()
    await gate.entered
    gate.open()
    expect((await stays).json).toMatchObject({ status: 'success' })
  })
})

describe('a client that does not read', () => {
  /** A tool that tells large parts until it is stopped or has told enough. */
  function flooding(app: App): { readonly over: Promise<string>; readonly sent: () => number } {
    let sent = 0
    let finish: (how: string) => void
    const over = new Promise<string>((resolve) => (finish = resolve))
    app.tool('flood', {}, async (_input, { signal, progress }) => {
      while (!signal.aborted && sent < 2000) {
        progress(++sent, 2000, 'x'.repeat(100_000))
        await new Promise((resolve) => setImmediate(resolve))
      }
      finish(signal.aborted ? 'stopped' : 'finished')
      return 'done'
    })
    return { over, sent: () => sent }
  }

  test('is aborted, its call cancelled, and little is buffered [S1-5-4]', async () => {
    const app = tools({ streamBytes: 500_000 })
    const { over, sent } = flooding(app)
    const { port } = await start(app)
    const headers = { ...JSON_TYPE, accept: 'text/event-stream' }
    const response = await begin(port, { path: '/gist', body: JSON.stringify(envelope('flood')), headers })
    response.pause()
    response.on('error', () => undefined)
    expect(await over).toBe('stopped')
    expect(sent()).toBeLessThan(500)
    await expect.poll(() => serviceOf(app).load.running).toBe(0)
    expect(app.counts.get('slow_reader')).toBe(1)
    response.destroy()
  })

  test('is aborted when it does not read a large result', async () => {
    const app = tools({ bodyMs: 200 })
    app.tool('large', {}, () => 'x'.repeat(20_000_000))
    const { port } = await start(app)
    const body = JSON.stringify(envelope('large'))
    const response = await begin(port, { path: '/gist', body, headers: JSON_TYPE })
    response.pause()
    response.on('error', () => undefined)
    await expect.poll(() => app.counts.get('slow_reader')).toBe(1)
    response.destroy()
  })
})

describe('more than a server can do', () => {
  test('is refused: for one session, and for one id twice', async () => {
    const app = tools({ inFlight: 2 })
    const { gate } = waiting(app)
    const { port } = await start(app)
    const { session } = await shake(port)
    const first = envelope('wait', {}, { session })
    const running = [post(port, first)]
    await gate.entered
    const twice = await post(port, first)
    expect([twice.status, twice.json]).toMatchObject([
      400,
      {
        request_id: first['request_id'],
        error: { message: expect.stringContaining('already in flight') },
      },
    ])
    running.push(post(port, envelope('wait', {}, { session })))
    await expect.poll(() => serviceOf(app).load.running).toBe(2)
    const one = await post(port, envelope('wait', {}, { session }))
    expect([one.status, one.headers['retry-after'], one.json]).toMatchObject([
      429,
      '1',
      { status: 'error', error: { code: 1060 } },
    ])
    gate.open()
    for (const reply of await Promise.all(running)) expect(reply.json).toMatchObject({ status: 'success' })
  })

  test('is refused for all together with 503', async () => {
    const app = tools({ allInFlight: 1, queued: 0 })
    const { gate } = waiting(app)
    const { port } = await start(app)
    const running = post(port, envelope('wait'))
    await gate.entered
    const one = await post(port, envelope('wait'))
    expect(one.status).toBeGreaterThanOrEqual(429)
    expect(one.json).toMatchObject({ status: 'error', error: { refusal: { retryable: true } } })
    gate.open()
    expect((await running).json).toMatchObject({ status: 'success' })
  })

  test('waits for its turn where it may', async () => {
    const app = tools({ allInFlight: 1 })
    const { gate } = waiting(app)
    const { port } = await start(app)
    const running = post(port, envelope('wait'))
    await gate.entered
    const next = post(port, envelope('wait'))
    await expect.poll(() => serviceOf(app).load.waiting).toBe(1)
    gate.open()
    for (const reply of await Promise.all([running, next]))
      expect(reply.json).toMatchObject({ status: 'success' })
    expect(serviceOf(app).load.running).toBe(0)
  })
})

describe('at the end of the server', () => {
  test('what is running is answered, and newcomers are refused', async () => {
    const app = tools()
    const { gate } = waiting(app)
    const { port, running } = await start(app)
    const asked = post(port, envelope('wait'))
    await gate.entered
    const closed = running.close()
    const late = await post(port, envelope('echo', { text: 'x' }))
    expect([late.status, late.headers['retry-after'], late.json]).toMatchObject([
      503,
      '5',
      { status: 'error', error: { code: 1077, refusal: { name: 'SERVER_SHUTTING_DOWN' } } },
    ])
    gate.open()
    expect((await asked).json).toMatchObject({ status: 'success' })
    await closed
  })

  test('a request that takes too long is rejected and cancelled', async () => {
    const app = tools({ drainMs: 50 })
    const { gate, stopped } = waiting(app)
    const { port, running } = await start(app)
    const asked = post(port, envelope('wait'))
    await gate.entered
    await running.close()
    expect(await stopped).toMatchObject({ kind: 'shutting_down' })
    expect(await asked.catch(() => ({ status: 0 }))).toMatchObject({ status: 503 })
  })
})

describe('a mount', () => {
  test('takes whatever path ends in /gist, with the body that a framework parsed', async () => {
    const app = express()
    app.use(express.json())
    const served = tools({ keys: 20, stringLength: 1000 })
    onTestFinished(() => served.close())
    app.use('/api', served.node({ gist: true }))
    const url = await listen(createHttp(app))
    const send = (value: unknown): Promise<Response> =>
      fetch(new URL('/api/gist', url), {
        method: 'POST',
        body: JSON.stringify(value),
        headers: { ...JSON_TYPE },
      })
    const opened = (await (await send({ mcp_version: '2025-11' })).json()) as { session: string }
    const { session } = opened
    expect(await (await send(envelope('echo', { text: 'x' }, { session }))).json()).toMatchObject({
      status: 'success',
    })
    const deep: unknown = JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`)
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`k${at}`, at]))
    for (const input of [{ deep }, { many }, { text: 'x'.repeat(1001) }])
      expect((await send(envelope('echo', input))).status).toBe(400)
    expect((await send([])).status).toBe(400)
  })

  test('of fetch gives sessions to their callers alone', async () => {
    const app = tools()
    onTestFinished(() => app.close())
    app.tool('me', {}, (_input, { auth }) => auth?.sub ?? 'nobody')
    const serve = app.fetchWith({ gist: { cycle: 'revision' } })
    const send = async (value: unknown, sub?: string): Promise<[number, object]> => {
      const request = new Request('http://localhost/gist', {
        method: 'POST',
        body: JSON.stringify(value),
        headers: { ...JSON_TYPE },
      })
      const reply = await serve(request, sub === undefined ? {} : { auth: { sub } })
      return [reply.status, (await reply.json()) as object]
    }
    const [, opened] = await send({ mcp_version: '2025-11' }, 'ann')
    const { session } = opened as { session: string }
    expect(await send(envelope('me', {}, { session }), 'ann')).toMatchObject([
      200,
      { result: { content: [{ text: 'ann' }] } },
    ])
    for (const other of ['bob', undefined])
      expect(await send(envelope('me', {}, { session }), other)).toMatchObject([404, { status: 'error' }])
  })

  test('of fetch streams too', async () => {
    const app = tools()
    onTestFinished(() => app.close())
    const request = new Request('http://localhost/deep/gist', {
      method: 'POST',
      body: JSON.stringify(envelope('steps', { count: 2 })),
      headers: { ...JSON_TYPE, accept: 'text/event-stream' },
    })
    const text = await (await app.fetchWith({ gist: true })(request)).text()
    expect(text.match(/"status":"\w+"/g)).toEqual([
      '"status":"in_progress"',
      '"status":"in_progress"',
      '"status":"success"',
    ])
  })
})

test('the id of the handshake is not the session id', async () => {
  const seen: unknown[] = []
  const app = tools()
  app.use((context, next) => {
    seen.push(context.id)
    return next()
  })
  app.use({ observer: { end: (call) => void seen.push(JSON.stringify(call)) } })
  const { port } = await start(app)
  const { session } = await shake(port)
  expect(seen.length).toBeGreaterThan(0)
  for (const each of seen) expect(String(each)).not.toContain(session as string)
})
