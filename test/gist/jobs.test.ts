import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { bearer } from '../../src/auth.ts'
import { connect } from '../../src/client.ts'
import { createServer, ToolError, type App } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { testClient } from '../../src/testing.ts'
import { Door } from '../harness/door.ts'
import { send, type Received } from '../http/wire.ts'
import { envelope, post, shake, start } from './server.ts'

const door = new Door()
const TEXT = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const

/** A server with tools that may, must and cannot become jobs. */
function jobs(): App {
  return createServer({ name: 'jobs', version: '1', log: () => undefined })
    .tool('echo', { input: TEXT }, ({ text }) => text)
    .tool('slow', { input: TEXT, task: { poll: '250ms' } }, async ({ text }, { progress }) => {
      progress(1, 2, `drawing ${text}`)
      await door.pass(text)
      return { content: [{ type: 'text', text: `done ${text}` }], _meta: { 'dev.pierhead/tokens': 7 } }
    })
    .tool('must', { task: 'required' }, () => 'waited')
    .tool('deny', { task: 'optional' }, () => {
      throw new ToolError('the harbour is closed')
    })
    .tool('crash', { task: 'optional' }, () => {
      throw new Error('secret of the house')
    })
}

async function job(port: number, tool: string, args: JsonObject = {}): Promise<string> {
  const { json } = await post(port, envelope(tool, args, { mode: 'async' }))
  expect(json).toMatchObject({ status: 'in_progress' })
  return json['job_id'] as string
}

function get(port: number, id: string, headers: Record<string, string> = {}): Promise<Received> {
  return send(port, { method: 'GET', path: `/jobs/${id}`, headers })
}

/** Asks for a job until it has ended. */
async function ended(port: number, id: string): Promise<Received> {
  for (;;) {
    const reply = await get(port, id)
    if (reply.json['status'] !== 'in_progress') return reply
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('a call', () => {
  test('with mode async is answered with the handle of a job, which has the outcome later [S1-4.1-2] [S1-4.3-1] [S1-4.3-2] [S1-10-2]', async () => {
    const { port, app } = await start(jobs())
    const { session } = await shake(port)
    const asked = envelope('slow', { text: 'a' }, { session, mode: 'async' })
    const handle = await post(port, asked)
    expect([handle.status, handle.headers['content-type']]).toEqual([200, 'application/json'])
    const id = handle.json['job_id'] as string
    expect(handle.json).toEqual({
      request_id: asked['request_id'],
      status: 'in_progress',
      job_id: expect.stringMatching(/^[\w-]{24}$/),
      poll_after: 0.25,
    })
    await expect.poll(async () => (await app.tasks.show(id))?.statusMessage).toBe('drawing a')
    expect((await get(port, id)).json).toEqual({
      job_id: id,
      status: 'in_progress',
      poll_after: 0.25,
      result: { content: [{ type: 'text', text: 'drawing a' }] },
    })
    door.open('a')
    const done = await ended(port, id)
    expect([done.status, done.headers['cache-control']]).toEqual([200, 'no-store'])
    expect(done.json).toEqual({
      job_id: id,
      status: 'success',
      result: expect.objectContaining({ content: [{ type: 'text', text: 'done a' }] }),
      metadata: { duration_ms: expect.any(Number), tokens_used: 7 },
    })
  })

  test('with mode sync waits, also for a tool that is always a task at 2025-11-25 [S1-4.1-2]', async () => {
    const { port } = await start(jobs())
    expect((await post(port, envelope('must', {}, { mode: 'sync' }))).json).toMatchObject({
      status: 'success',
      result: { content: [{ text: 'waited' }] },
    })
    expect((await post(port, envelope('echo', { text: 'x' }))).json).toMatchObject({ status: 'success' })
  })

  test('that cannot be a job is rejected at once, with a reason', async () => {
    const { port, app } = await start(jobs())
    const never = await post(port, envelope('echo', { text: 'x' }, { mode: 'async' }))
    expect([never.status, never.json]).toMatchObject([
      400,
      { status: 'error', error: { message: expect.stringContaining('"echo" cannot be called as a task') } },
    ])
    const wrong = await post(port, envelope('slow', {}, { mode: 'async' }))
    expect([wrong.status, wrong.json]).toMatchObject([200, { status: 'error', result: { isError: true } }])
    expect((await post(port, envelope('none', {}, { mode: 'async' }))).status).toBe(404)
    expect(await app.tasks.list()).toEqual([])
  })

  test('whose job fails has the status error, however it ended', async () => {
    const { port, app } = await start(jobs())
    const denied = await ended(port, await job(port, 'deny'))
    expect([denied.status, denied.json]).toMatchObject([
      200,
      { status: 'error', result: { isError: true }, error: { message: 'the harbour is closed' } },
    ])
    const crashed = await ended(port, await job(port, 'crash'))
    expect([crashed.status, crashed.json]).toMatchObject([
      200,
      { status: 'error', result: { isError: true }, metadata: { duration_ms: expect.any(Number) } },
    ])
    expect(crashed.text).not.toContain('secret')
    const id = await job(port, 'slow', { text: 'b' })
    await app.tasks.cancel(id)
    expect((await get(port, id)).json).toMatchObject({
      job_id: id,
      status: 'error',
      error: { refusal: { name: 'TASK_CANCELLED' } },
    })
  })

  test('goes on when its client has left', async () => {
    const { port, app } = await start(jobs())
    const { session } = await shake(port)
    const id = (await post(port, envelope('slow', { text: 'c' }, { session, mode: 'async' }))).json['job_id']
    expect((await app.tasks.show(id as string))?.status).toBe('working')
    door.open('c')
    expect((await ended(port, id as string)).json).toMatchObject({ status: 'success' })
  })
})

test('the capability async is announced if tools may become tasks [S1-5-1]', async () => {
  const wanted = ['async', 'stream']
  const { port } = await start(jobs())
  expect((await shake(port, wanted))['capabilities']).toEqual(['stream', 'async'])
  const { port: other } = await start()
  expect((await shake(other, wanted))['capabilities']).toEqual(['stream'])
  expect((await get(other, 'x')).status).toBe(404)
})

test('with the capability async of a server, every tool can be a job [S1-5-1] [S1-11-3]', async () => {
  const app = createServer({
    id: 'my-server',
    version: '2025-11',
    tools: { tide: { run: () => 'high' }, ebb: { task: 'required', run: () => 'low' } },
    capabilities: ['async'],
  })
  const { port } = await start(app)
  for (const [tool, text] of [
    ['tide', 'high'],
    ['ebb', 'low'],
  ] as const)
    expect((await ended(port, await job(port, tool))).json).toMatchObject({ result: { content: [{ text }] } })
  await using client = await testClient(app)
  expect(await client.call('tide')).toBe('high')
})

test.each(['2025-11-25', '2026-07-28'] as const)(
  'a job is a task and a task is a job, at %s [S1-4.3-1] [S1-10-2]',
  async (revision) => {
    const { port, url, app } = await start(jobs())
    await using client = await connect(url.replace('/gist', '/mcp'), { revision })
    const id = await job(port, 'slow', { text: 'd' })
    const same = await client.resume(id)
    expect((await same.status()).status).toBe('working')
    const task = await client.start('must')
    expect((await ended(port, task.id as string)).json).toMatchObject({
      job_id: task.id,
      status: 'success',
      result: { content: [{ text: 'waited' }] },
    })
    await same.cancel()
    expect((await ended(port, id)).json).toMatchObject({ status: 'error' })
    expect(await app.tasks.list()).toHaveLength(2)
  },
)

describe('the path of a job', () => {
  test('shows no difference between jobs that are unknown, foreign and over', async () => {
    const app = jobs()
    app.tool('short', { task: { ttl: 1 } }, () => 'gone')
    const auth = bearer((token) => ({ sub: token }))
    const { port } = await start(app, { auth })
    const ann = { authorization: 'Bearer ann' }
    const bob = { authorization: 'Bearer bob' }
    const { json } = await post(port, envelope('slow', { text: 'e' }, { mode: 'async' }), ann)
    const short = await post(port, envelope('short', {}, { mode: 'async' }), ann)
    const id = json['job_id'] as string
    expect((await get(port, id, ann)).json).toMatchObject({ status: 'in_progress' })
    expect((await get(port, id)).status).toBe(401)
    const over = short.json['job_id'] as string
    const random = 'A'.repeat(24)
    const replies = [await get(port, id, bob), await get(port, over, ann), await get(port, random, bob)]
    const [foreign, past, unknown] = replies.map(({ status, text }, at) =>
      [status, text.replace([id, over, random][at] as string, '').replace(/"duration_ms":[\d.]+/, '')].join(),
    )
    expect(foreign).toBe(unknown)
    expect(past).toBe(unknown)
    expect(unknown).toMatch(/^404,.*TASK_NOT_FOUND/)
    door.open('e')
  })

  test('answers HEAD and OPTIONS, and rejects other methods and foreign pages', async () => {
    const { port } = await start(jobs(), { cors: ['https://page.example'] })
    const id = await job(port, 'must')
    await ended(port, id)
    const page = { origin: 'https://page.example' }
    const whole = await get(port, id, page)
    expect(whole.headers['access-control-allow-origin']).toBe('https://page.example')
    const head = await send(port, { method: 'HEAD', path: `/jobs/${id}`, headers: page })
    expect([head.status, head.text, head.headers['content-length']]).toEqual([
      200,
      '',
      String(whole.bytes.length),
    ])
    const asked = await send(port, { method: 'OPTIONS', path: `/jobs/${id}`, headers: page })
    expect([asked.status, asked.headers['access-control-allow-methods']]).toEqual([204, 'GET, HEAD, OPTIONS'])
    for (const method of ['POST', 'DELETE', 'PUT']) {
      const refused = await send(port, { method, path: `/jobs/${id}`, headers: {} })
      expect([refused.status, refused.headers['allow']]).toEqual([405, 'GET, HEAD, OPTIONS'])
    }
    expect((await get(port, id, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await get(port, id, { accept: 'text/event-stream' })).status).toBe(406)
    expect((await send(port, { method: 'GET', path: `/jobs/${id}?x=1` })).status).toBe(200)
    for (const path of ['/jobs', '/jobs/', `/jobs/${id}/more`, `/other/jobs/${id}`])
      expect((await send(port, { method: 'GET', path })).status).toBe(404)
  })

  test('does not exist unless envelopes are on, and is found below any mount', async () => {
    const app = jobs()
    const { port: off } = await start(app, { gist: false })
    expect((await get(off, 'x')).status).toBe(404)
    const server = createHttpServer(app.node({ gist: true }))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    const body = JSON.stringify(envelope('must', {}, { mode: 'async' }))
    const { json } = await send(port, { path: '/api/gist', body, headers })
    const path = `/api/jobs/${json['job_id'] as string}`
    await expect.poll(async () => (await send(port, { method: 'GET', path })).json['status']).toBe('success')
    const answer = app.fetchWith({ gist: true })
    const web = await answer(new Request(`http://localhost${path}`))
    expect(await web.json()).toMatchObject({ status: 'success' })
    const head = await answer(new Request(`http://localhost${path}`, { method: 'HEAD' }))
    expect([head.status, await head.text()]).toEqual([200, ''])
  })
})
