import { afterEach, expect, test } from 'vitest'
import { toLimits } from '../../src/base/limits.ts'
import { kindOf, open, until, type Launch, type Opened } from './open.ts'

let child: Opened

async function start(options: Launch = {}): Promise<Opened> {
  child = await open(options)
  return child
}

afterEach(() => child.line.close())

test('a request to a server process gets its answer over stdin and stdout [S0-3.1]', async () => {
  const { call, line, notes, downs } = await start()
  expect(await call('hello', { a: 1 })).toMatchObject({
    id: 1,
    result: { method: 'hello', params: { a: 1 } },
  })
  expect(line.cancels).toBe('message')
  expect([notes, downs]).toEqual([[], []])
})

test('a thousand requests at once each get their own answer', async () => {
  const { call } = await start()
  const answers = await Promise.all(Array.from({ length: 1000 }, (_, n) => call('count', { n })))
  expect(answers.map(({ id }) => id)).toEqual(Array.from({ length: 1000 }, (_, n) => n + 1))
  expect(answers[499]?.result).toEqual({ method: 'count', params: { n: 499 } })
})

test('notifications and questions of the server reach the client in order', async () => {
  const { call, line, messages } = await start()
  const text =
    '{"jsonrpc":"2.0","method":"notifications/x"}\n{"jsonrpc":"2.0","id":1,"method":"roots/list"}\n'
  await line.send(JSON.stringify({ jsonrpc: '2.0', method: 'raw', params: { text } }))
  await call('after')
  expect(messages).toMatchObject([{ method: 'notifications/x' }, { id: 1, method: 'roots/list' }])
})

test('answers in a batch reach their requests', async () => {
  const { call } = await start()
  const first = call('silence')
  const text = '[{"jsonrpc":"2.0","id":2,"result":{"b":2}},{"jsonrpc":"2.0","id":1,"result":{"a":1}}]\n'
  const second = call('raw', { text })
  expect(await first).toMatchObject({ result: { a: 1 } })
  expect(await second).toMatchObject({ result: { b: 2 } })
})

test('an aborted request rejects with the reason, and its late answer is ignored', async () => {
  const { call, messages } = await start()
  const controller = new AbortController()
  const waiting = call('silence', {}, controller.signal)
  controller.abort(new Error('enough'))
  await expect(waiting).rejects.toMatchObject({ kind: 'cancelled', cause: { message: 'enough' } })
  const text =
    '{"jsonrpc":"2.0","id":1,"result":{}}\n{"jsonrpc":"2.0","id":"2","result":{}}\n{"jsonrpc":"2.0","id":2,"result":{"ok":1}}\n'
  expect(await call('raw', { text })).toMatchObject({ id: 2, result: { ok: 1 } })
  expect(messages).toEqual([])
})

test('what a server writes to stderr is delivered line by line, without escapes, and is not a failure [R065] [S0-3.4]', async () => {
  const { call, notes, downs } = await start()
  await call('complain', {
    text: 'one\r\n\u001b[31mtwo\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007\nthr',
  })
  await call('complain', { text: 'ee\n' })
  await until(() => notes.length === 3)
  expect(notes).toEqual(['stderr: one', 'stderr: two link', 'stderr: three'])
  expect(downs).toEqual([])
})

test('lines on stdout that are no messages are noted once and skipped [R068]', async () => {
  const { call, notes } = await start()
  const text =
    'Listening on \u001b[1mstdio\u001b[0m\n\n42\n{"some":"json"}\n{broken\r\n{"jsonrpc":"2.0","id":1,"result":{}}\r\n'
  expect(await call('raw', { text })).toMatchObject({ id: 1, result: {} })
  expect(notes).toEqual([
    'stream: the server writes text to stdout that is not a message, such as: Listening on stdio',
  ])
})

test.each([
  ['a result that is no object', '{"jsonrpc":"2.0","id":1,"result":5}'],
  ['a result that comes before the id', '{"result":[],"jsonrpc":"2.0","id":1}'],
  ['an answer cut short', '{"jsonrpc":"2.0","id":1,"result":{"a":'],
  [
    'an answer nested too deep',
    `{"jsonrpc":"2.0","id":1,"result":{"a":${'['.repeat(5000)}${']'.repeat(5000)}}}`,
  ],
  ['an answer with a key twice', '{"jsonrpc":"2.0","id":1,"id":1,"result":{}}'],
  ['a broken member of a batch', '[{"jsonrpc":"2.0","id":1,"result":5}]'],
])('%s fails its request and no other', async (_, text) => {
  const { call, downs } = await start()
  await expect(call('raw', { text: `${text}\n` })).rejects.toMatchObject({ kind: 'bad_answer' })
  expect(await call('next')).toMatchObject({ result: { method: 'next' } })
  expect(downs).toEqual([])
})

test('an answer that is not UTF-8 fails its request and no other [S0-3.3]', async () => {
  const { call } = await start()
  const bytes = Buffer.concat([
    Buffer.from('{"jsonrpc":"2.0","id":1,"result":{"a":"'),
    Buffer.from([0xff, 0xc3]),
    Buffer.from('"}}\n'),
  ])
  const broken = call('bytes', { hex: bytes.toString('hex') })
  await expect(broken).rejects.toMatchObject({
    kind: 'bad_answer',
    message: expect.stringContaining('UTF-8'),
  })
  expect(await call('next')).toMatchObject({ result: { method: 'next' } })
})

test('a question with broken params does not fail a request of the same id', async () => {
  const { call, line } = await start()
  const first = call('silence')
  const text =
    '{"jsonrpc":"2.0","id":1,"method":"roots/list","params":5}\n{"jsonrpc":"2.0","id":1,"result":{"good":true}}\n'
  await line.send(JSON.stringify({ jsonrpc: '2.0', method: 'raw', params: { text } }))
  expect(await first).toMatchObject({ result: { good: true } })
})

test('an answer above the limit fails its request, and the line goes on', async () => {
  const limits = toLimits({ clientBytes: 300_000 })
  const { call, downs } = await start({ limits })
  const waiting = kindOf(call('silence'))
  await expect(call('huge', { size: 500_000 })).rejects.toMatchObject({
    kind: 'answer_too_large',
    message: 'the server sent more than 300000 bytes in one line',
  })
  expect(await call('next')).toMatchObject({ result: { method: 'next' } })
  expect(downs).toEqual([])
  await child.line.close()
  expect(await waiting).toBe('closed')
})

test('a line above the limit that names no request ends the line when several wait', async () => {
  const limits = toLimits({ clientBytes: 1000 })
  const { call, down } = await start({ limits })
  const waiting = call('silence')
  const cause = call('raw', { text: `${'x'.repeat(2000)}\n` })
  await expect(waiting).rejects.toMatchObject({ kind: 'answer_too_large' })
  await expect(cause).rejects.toMatchObject({ kind: 'answer_too_large' })
  expect(await down).toMatchObject({ kind: 'answer_too_large' })
})

test.each([
  [-1, undefined],
  [0, undefined],
  [1, 'answer_too_large'],
])('an answer of the limit and %i bytes fails with %s', async (over, kind) => {
  const empty = '{"jsonrpc":"2.0","id":1,"result":{"text":""}}'.length
  const { call } = await start({ limits: toLimits({ clientBytes: 200_000 }) })
  expect(await kindOf(call('huge', { size: 200_000 - empty + over }))).toBe(kind)
})
