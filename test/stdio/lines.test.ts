import { expect, test } from 'vitest'
import { call, headed, initialize, message } from '../http/messages.ts'
import { Child, opened } from './child.ts'

const PING = (id: number): string => message('ping', {}, id)

test('options that name no transport, or only rule out HTTP, mean stdio', async () => {
  for (const flags of [[], ['unnamed']]) expect((await opened(flags)).messages).toMatchObject([{ id: 1 }])
})

test('L.plain one message per line, both ways [R060] [S0-3.1] [S0-3.2] [S1-1.2-1] [S2-10.2-1] [S4-3-2]', async () => {
  const child = await opened()
  child.send(call('echo', { text: 'line one\nline two\r\n\u2028' }, 2))
  expect(await child.reply(2)).toMatchObject({
    result: { content: [{ text: 'line one\nline two\r\n\u2028' }] },
  })
  expect(child.lines).toHaveLength(2)
})

test('L.blank L.crlf L.bom blank lines, CRLF and a byte order mark are tolerated [R068] [S0-3.2] [S4-3-2]', async () => {
  const child = new Child()
  child.write('\ufeff', `${initialize()}\r\n`, '\n\r\n   \t\r\n\n', `${PING(2)}\r\n`, `  ${PING(3)}  \n`)
  expect((await child.count(3)).map(({ id }) => id)).toEqual([1, 2, 3])
})

test('L.bytes a message that arrives byte by byte is one message [S0-3.3]', async () => {
  const child = await opened()
  for (const byte of Buffer.from(`${call('echo', { text: 'grüße 🚢' }, 2)}\n`))
    child.write(Uint8Array.of(byte))
  expect(await child.reply(2)).toMatchObject({ result: { content: [{ text: 'grüße 🚢' }] } })
})

test.each<[string, string | Uint8Array, number]>([
  ['L.bad no JSON', 'hello\n', -32700],
  ['L.raw-newline a newline inside', '{"jsonrpc":"2.0",\n', -32700],
  ['L.two two on a line', `${PING(5)} ${PING(6)}\n`, -32700],
  ['L.framing a header of another protocol', 'Content-Length: 44\n', -32700],
  ['L.nul noise', '\0\0\0\x01\x02\n', -32700],
  ['L.utf8 bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22, 0x0a]), -32700],
  ['L.bom-late a byte order mark later', `\ufeff${PING(5)}\n`, -32700],
  ['L.batch a batch at 2025-11-25', `[${PING(5)}]\n`, -32600],
  ['L.scalar a value that is no message', '42\n', -32600],
])('%s is answered without an id and survived [R068] [R009]', async (_, text, code) => {
  const child = await opened()
  child.write(text).send(PING(9))
  const messages = await child.count(3)
  expect(messages[1]).toMatchObject({ error: { code } })
  expect(messages[1]).not.toHaveProperty('id')
  expect(messages[2]).toMatchObject({ id: 9, result: {} })
})

test('before the first message, too, lines that are not messages are answered and survived [R068] [R009]', async () => {
  const child = new Child()
  child.write('hello\n', 'POST / HTTP/1.1\r\nHost: x\r\n\r\n', '42\n').send(PING(9))
  expect(await child.count(5)).toMatchObject([
    { error: { code: -32700 } },
    { error: { code: -32700 } },
    { error: { code: -32700 } },
    { error: { code: -32600 } },
    { id: 9, result: {} },
  ])
})

test('L.batch at 2025-03-26 a batch is answered on one line, in order [R013] [R015]', async () => {
  const child = new Child().send(initialize('2025-03-26'))
  child.send(`[${call('slow', { count: 20 }, 5)},${message('notifications/odd')},${PING(6)},7]`)
  await child.until(({ lines }) => lines.length === 2)
  expect(JSON.parse(child.lines[1] as string)).toMatchObject([
    { id: 5 },
    { id: 6 },
    { error: { code: -32600 } },
  ])
})

test('L.huge a line beyond the limit gets one error, is never buffered, and does no harm [S2-1.6-1]', async () => {
  const child = await opened(['small'])
  const ping = PING(5)
  child.write(`${ping}${' '.repeat(1000 - ping.length)}\n`)
  expect(await child.reply(5)).toMatchObject({ result: {} })
  child.write(`${PING(6)}${' '.repeat(1001 - ping.length)}\n`)
  const chunk = 'x'.repeat(1_000_000)
  for (let each = 0; each < 64; each++) child.write(chunk)
  child.write('\n').send(PING(9))
  expect(await child.reply(9)).toMatchObject({ result: {} })
  expect(child.messages.slice(2, -1)).toMatchObject([
    { id: 6, error: { code: -32600, data: { refusal: { code: 1068 } } } },
    { error: { code: -32600, data: { refusal: { code: 1068 } } } },
  ])
  expect(child.messages.at(-2)).not.toHaveProperty('id')
  expect(child.memory).toBeLessThan(200_000_000)
})

test('L.500 five hundred requests at once are all answered', async () => {
  const child = await opened()
  child.send(
    ...Array.from({ length: 500 }, (_, at) =>
      call(at % 2 === 0 ? 'echo' : 'slow', at % 2 === 0 ? { text: `${at}` } : { count: 5 }, at + 10),
    ),
  )
  const replies = (await child.count(501)).slice(1)
  expect(new Set(replies.map(({ id }) => id)).size).toBe(500)
  expect(replies.every((reply) => 'result' in reply)).toBe(true)
})

test('L.before-initialize requests before the handshake are rejected, except ping [S2-2.1-2] [S2-13-S1]', async () => {
  const child = new Child().send(message('tools/list', {}, 1), PING(2))
  expect(await child.count(2)).toMatchObject([
    { id: 1, error: { code: -32600 } },
    { id: 2, result: {} },
  ])
})

test('L.mixed both kinds of revision are served on one pipe, mixed', async () => {
  const child = new Child()
  const latest = (id: number): string =>
    headed('tools/call', { name: 'echo', arguments: { text: `${id}` } }, id).body
  child.send(
    latest(100),
    initialize('2025-06-18'),
    latest(101),
    call('echo', { text: 'old' }, 2),
    headed('server/discover', {}, 102).body,
    PING(3),
  )
  await child.count(6)
  for (const id of [100, 101]) {
    expect(await child.reply(id)).toMatchObject({
      result: { resultType: 'complete', content: [{ text: `${id}` }] },
    })
  }
  expect(await child.reply(1)).toMatchObject({ result: { protocolVersion: '2025-06-18' } })
  expect((await child.reply(2))['result']).not.toHaveProperty('resultType')
  expect(await child.reply(102)).toMatchObject({ result: { supportedVersions: ['2026-07-28'] } })
  expect(await child.reply(3)).toMatchObject({ result: {} })
})

test('L.cancel a cancelled request is not answered, the next one is [R194]', async () => {
  const child = await opened()
  child.send(
    call('slow', { count: 300 }, 5),
    message('notifications/cancelled', { requestId: 5 }),
    call('slow', { count: 400 }, 6),
  )
  await child.reply(6)
  expect(child.messages.map(({ id }) => id)).toEqual([1, 6])
})
