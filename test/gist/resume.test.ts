import { describe, expect, onTestFinished, test } from 'vitest'
import { connectGist, ToolError, type GistConnectOptions } from '../../src/gist.ts'
import { createServer, type App } from '../../src/index.ts'
import { Door } from '../harness/door.ts'
import { failureOf } from '../harness/failure.ts'
import { start } from './server.ts'

const door = new Door()

function films(): App {
  return createServer({ name: 'films', version: '1', log: () => undefined })
    .tool('render', { task: { poll: '100ms' } }, async (_, { progress }) => {
      progress(1, 2, 'drawing')
      await door.pass('render')
      return 'a film'
    })
    .tool('hang', { task: { poll: '100ms' } }, async (_, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    })
    .tool('fail', { task: 'optional' }, () => {
      throw new ToolError('no film')
    })
}

async function meet(url: string, options: GistConnectOptions = {}) {
  const client = await connectGist(url, options)
  onTestFinished(() => client.close())
  return client
}

/** Answers questions about jobs with a function, and counts them; undefined lets them through. */
function answering(answer: (question: number) => Response | undefined) {
  let questions = 0
  const send: typeof fetch = async (input, init) =>
    (init?.method === 'GET' ? answer(++questions) : undefined) ?? fetch(input, init)
  return { asked: () => questions, fetch: send }
}

function json(status: number, value: object): Response {
  return new Response(JSON.stringify(value), { status, headers: { 'content-type': 'application/json' } })
}

test.each(['.', '..', '\ud800', '', 'x'.repeat(1025)])(
  'the id %j, which cannot be a part of a URL, is not asked for',
  async (id) => {
    const { url } = await start(films())
    const { asked, fetch } = answering(() => json(200, { status: 'success', result: {} }))
    const client = await meet(url, { fetch })
    expect(await failureOf(client.resume(id))).toMatchObject({ kind: 'bad_option' })
    expect(asked()).toBe(0)
  },
)

test('a call with mode async gives a handle, which another client resumes [S1-4.3-3] [S1-8-3]', async () => {
  const { url } = await start(films())
  const ann = await meet(url)
  expect(ann.descriptor.capabilities).toContain('async')
  const job = await ann.call('render', {}, { mode: 'async' })
  expect(job).toMatchObject({ status: 'in_progress', job_id: expect.any(String), poll_after: 0.1 })
  if (job.status !== 'in_progress') throw new Error('it is finished')
  await ann.close()
  const bob = await meet(url)
  const parts: unknown[] = []
  const done = bob.resume(job.job_id, {
    onProgress: ({ result }) => {
      parts.push(result)
      door.open('render')
    },
  })
  expect((await done).result).toMatchObject({ content: [{ text: 'a film' }] })
  expect(parts.length).toBeGreaterThan(0)
})

test('resume throws what a call does, and errors with hints', async () => {
  const { url, app } = await start(films())
  const client = await meet(url)
  const begin = async (tool: string): Promise<string> =>
    (await client.call(tool, {}, { mode: 'async' })).job_id as string
  await expect(client.resume(await begin('fail'))).rejects.toThrow(new ToolError('no film'))
  const hung = await begin('hang')
  const waiting = failureOf(client.resume(hung))
  await app.tasks.cancel(hung)
  expect((await waiting).kind).toBe('task_cancelled')
  const unknown = await failureOf(client.resume('nothing'))
  expect([unknown.kind, unknown.hint]).toEqual([
    'unknown_task',
    expect.stringContaining('the id that the server answered'),
  ])
  for (const id of ['', 5, 'x'.repeat(1025)])
    expect((await failureOf(client.resume(id as string))).kind).toBe('bad_option')
  expect((await failureOf(client.resume('x', { totals: 1 } as never))).message).toContain(
    'did you mean "total"',
  )
})

test('waiting for a job ends with its total time, its signal and its client', async () => {
  const { url } = await start(films())
  const client = await meet(url)
  const job = await client.call('hang', {}, { mode: 'async' })
  const id = job.job_id as string
  expect((await failureOf(client.resume(id, { total: 150 }))).kind).toBe('timeout')
  const stop = new AbortController()
  const stopped = failureOf(client.resume(id, { signal: stop.signal, onProgress: () => stop.abort() }))
  expect((await stopped).kind).toBe('cancelled')
  const closed = failureOf(client.resume(id, { onProgress: () => void client.close() }))
  expect((await closed).kind).toBe('closed')
})

describe('questions about a job', () => {
  test('are repeated while the server cannot be reached or has no time [S1-8-3]', async () => {
    const { url } = await start(films())
    const busy = {
      status: 'error',
      error: { code: 1, message: 'busy', refusal: { name: 'X', retryable: true } },
    }
    const faults = answering((question) => {
      if (question === 1) throw Object.assign(new TypeError('failed'), { cause: { code: 'ECONNREFUSED' } })
      return question === 2 ? json(503, busy) : undefined
    })
    const client = await meet(url, { fetch: faults.fetch })
    const job = await client.call('render', {}, { mode: 'async' })
    door.open('render')
    expect((await client.resume(job.job_id as string)).status).toBe('success')
    expect(faults.asked()).toBeGreaterThan(2)
  })

  test('are not repeated after other errors, and never faster than 100 ms', async () => {
    const { url } = await start(films())
    const refused = answering(() => json(403, { status: 'error', error: { code: -32600, message: 'no' } }))
    const client = await meet(url, { fetch: refused.fetch })
    await failureOf(client.resume('x'))
    expect(refused.asked()).toBe(1)
    const hasty = answering(() => json(200, { status: 'in_progress', job_id: 'x', poll_after: 0 }))
    const other = await meet(url, { fetch: hasty.fetch })
    await failureOf(other.resume('x', { total: 350 }))
    expect(hasty.asked()).toBeLessThanOrEqual(4)
  })

  test.each([
    [{ status: 'in_progress' }, /job_id is not/],
    [{ status: 'in_progress', job_id: 'y' }, /another job/],
    [{ status: 'odd' }, /there is no result/],
    [{ status: 'error', error: 'x' }, /no code or message/],
  ])('with the answer %j fail with a reason', async (answer, reason) => {
    const { url } = await start(films())
    const { fetch } = answering(() => json(200, answer))
    const client = await meet(url, { fetch })
    expect((await failureOf(client.resume('x'))).message).toMatch(reason)
  })

  test('name the option of servers that have no jobs', async () => {
    const { url } = await start(films())
    const { fetch } = answering(() => new Response('no', { status: 404 }))
    const client = await meet(url, { fetch })
    expect((await failureOf(client.resume('x'))).message).toContain('gist: true')
  })
})
