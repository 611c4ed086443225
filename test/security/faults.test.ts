import { format } from 'node:util'
import { expect, test, vi } from 'vitest'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META } from '../../src/protocol/meta.ts'
import { reporterOf } from '../../src/app/report.ts'
import type { AnyApp } from '../harness/connection.ts'
import { scenario } from '../harness/scenario.ts'
import { ENVELOPE, initialize, message } from '../http/messages.ts'
import { bundle, run, type Ended } from './bundle.ts'

const FAULTY = bundle('faulty')
const TOOLS = [
  'throws',
  'rejects',
  'rejects-nothing',
  'throws-odd',
  'timeout',
  'after-end',
  'asks-late',
  'two-questions',
  'generator',
  'getter',
  'json',
  'told',
]

async function converse(
  texts: readonly string[],
  flags: readonly string[] = [],
): Promise<Ended & { readonly replies: readonly JsonObject[] }> {
  const ended = await run(FAULTY, flags, texts.map((text) => `${text}\n`).join(''))
  return {
    ...ended,
    replies: ended.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonObject),
  }
}

test.each([[[]], [['bad-log']]])(
  'F19 handlers that fail now, later, or after their end cost one answer each and never the process %j',
  async (flags) => {
    const calls = TOOLS.map((name, at) =>
      message('tools/call', { name, _meta: { progressToken: at } }, at + 10),
    )
    const { code, replies, stderr } = await converse(
      [
        initialize('2025-11-25', { elicitation: {}, roots: {} }),
        ...calls,
        message('resources/read', { uri: 'bad://x' }, 50),
        message('prompts/get', { name: 'bad' }, 51),
        message('tools/call', { name: 'ok' }, 99),
      ],
      flags,
    )
    expect([code, stderr.includes('UnhandledPromise')]).toEqual([0, false])
    for (const at of TOOLS.keys())
      expect(replies.filter(({ id, method }) => id === at + 10 && method === undefined)).toHaveLength(1)
    expect(replies.find(({ id }) => id === 99)).toMatchObject({ result: { content: [{ text: 'ok' }] } })
    expect(replies.find(({ id }) => id === 50)).toMatchObject({ error: { code: -32603 } })
    expect(replies.find(({ id }) => id === 51)).toMatchObject({ error: { code: -32603 } })
    // What is sent after the answer is dropped.
    expect(JSON.stringify(replies)).not.toContain('too late')
  },
)

test('F19 a question that is answered with an error, or not at all, ends its call alone', async () => {
  const capabilities = { elicitation: {}, roots: {} }
  const asked = message('tools/call', { name: 'two-questions' }, 10)
  const refusal = (id: number): string => `{"jsonrpc":"2.0","id":${id},"error":{"code":1,"message":"no"}}`
  const modern = message(
    'tools/call',
    { name: 'two-questions', _meta: { ...ENVELOPE, [META.clientCapabilities]: capabilities } },
    11,
  )
  const { code, replies } = await converse([
    initialize('2025-11-25', capabilities),
    asked,
    refusal(2),
    refusal(1),
    modern,
    message('tools/call', { name: 'ok' }, 99),
  ])
  expect(code).toBe(0)
  const reply = (id: number): JsonObject | undefined =>
    replies.find((one) => one['id'] === id && !('method' in one))
  expect(reply(10)).toMatchObject({ result: { isError: true } })
  expect(reply(11)).toMatchObject({ result: { resultType: 'input_required' } })
  expect(reply(99)).toMatchObject({ result: { content: [{ text: 'ok' }] } })
})

test('L.log-injection what a client says reaches the log neither raw nor as a format', async () => {
  const evil = 'x\r\npierhead error: forged\u001b[2J\u009b31m\u0000\u2028\u202e%s%o%c'
  const uri = `bad://${encodeURIComponent('x')}`
  const { code, stderr, replies } = await converse([
    initialize(),
    message(evil, {}, 2),
    message('tools/call', { name: evil }, 3),
    message('resources/read', { uri }, 4),
    message('resources/read', { uri: `bad://x?${evil}` }, 5),
    message('resources/read', { uri: 'bad://%0d%0apierhead%20error:%20forged%1b%5b2J' }, 6),
    message('tools/call', { name: 'throws' }, 7),
    message(`notifications/${evil}`, { a: evil }),
    `${evil.replaceAll(/[\r\n]/g, '')}{`,
  ])
  expect(code).toBe(0)
  expect(replies).toHaveLength(8)
  expect(stderr).toContain('pierhead error: ')
  expect(stderr.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u2028\u202e]/u)
  expect(stderr).not.toMatch(/^pierhead error: forged/m)
})

scenario(
  'L.log-injection what a client says reaches no log raw',
  () =>
    createServer({ name: 'log', version: '1' })
      .tool('echo', {}, () => 'echo')
      .resource('raw://{+a}', {}, () => Promise.reject(new Error('no'))) as AnyApp,
  async (client) => {
    const said: string[] = []
    const error = vi
      .spyOn(console, 'error')
      .mockImplementation((...parts: unknown[]) => void said.push(format(...parts)))
    try {
      const evil = 'x\u001b[2J\u009b31m\u0000\u2028\u202e%s%o%c'
      // Control characters do not reach the handler; what else ends or hides a line does.
      const others = ['raw://%e2%80%aepierhead%20error:%20forged', 'raw://%e2%80%a8%e2%80%ae%25s%25o%25c']
      for (const uri of [
        'raw://%0a%1b',
        `raw://${evil}`,
        'raw://%0d%0apierhead%20error:%20forged',
        ...others,
      ])
        await client.request('resources/read', { uri }).catch(() => undefined)
      await client.request('tools/call', { name: evil }).catch(() => undefined)
      const note = { jsonrpc: '2.0', method: `notifications/${evil}`, params: { a: evil } }
      // At 2026-07-28 headers over HTTP cannot say the name.
      await client.put(JSON.stringify(note)).catch(() => undefined)
      await client.post(`{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(evil)}`)
      await client.call('echo')
    } finally {
      error.mockRestore()
    }
    expect(said.length).toBeGreaterThanOrEqual(2)
    for (const line of said) {
      expect(line.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u2028\u202e]/u)
      expect(line).not.toMatch(/^pierhead error: forged/m)
    }
  },
)

test('L.log-injection nothing in a message ends its line, steers a terminal, or hides the facts behind it', async () => {
  const said: string[] = []
  const error = vi
    .spyOn(console, 'error')
    .mockImplementation((...parts: unknown[]) => void said.push(format(...parts)))
  const hostile = [
    '\n',
    '\r',
    '\u001b[2J',
    '\u009b',
    '\u2028',
    '\u202e',
    '\u200b',
    '\u0007',
    '%s',
    '%c',
    '%o',
  ]
  try {
    for (const letters of hostile)
      reporterOf({ name: 'x', version: '1' })('error', `resource "x${letters}y" failed`, { reference: 'r-1' })
    const app = createServer({ name: 'log', version: '1' }).resource('raw://{+a}', {}, () =>
      Promise.reject(new Error('no')),
    )
    for (const uri of ['raw://%c3%a9', 'raw://%d0%b0', 'raw://%e2%80%a8%e2%80%ae']) {
      await new Promise<void>((resolve) => {
        const end = app.connect({ receive: (text) => (text.includes('"id":2') ? resolve() : undefined) })
        end.send(initialize())
        end.send(message('resources/read', { uri }, 2))
      })
    }
  } finally {
    error.mockRestore()
  }
  expect(said).toHaveLength(hostile.length + 3)
  for (const line of said) expect(line).toMatch(/reference: '/)
  for (const line of said.slice(0, hostile.length)) expect(line).not.toMatch(/[\p{Cc}\p{Cf}\u2028]/u)
})

test('L.half-close a client that closes its side and reads on gets what was running', async () => {
  const { code, replies } = await converse([
    initialize(),
    ...[2, 3, 4].map((id) => message('tools/call', { name: 'rejects' }, id)),
  ])
  expect([code, replies.map(({ id }) => id)]).toEqual([0, [1, 2, 3, 4]])
})

test('L.flood ten thousand hostile lines in one piece are all answered, and the server ends as usual', async () => {
  const lines = Array.from(
    { length: 10_000 },
    (_, at) =>
      ['{', '[]', 'null', `{"jsonrpc":"2.0","id":${at},"method":"x${at}"}`, '\u0000', '"'.repeat(at % 100)][
        at % 6
      ] as string,
  )
  const answered = lines.filter((line) => line !== '')
  const { code, replies } = await converse([
    initialize(),
    ...lines,
    message('tools/call', { name: 'ok' }, 99_999),
  ])
  expect(code).toBe(0)
  expect(replies).toHaveLength(answered.length + 2)
  expect(replies.at(-1)).toMatchObject({ id: 99_999, result: { content: [{ text: 'ok' }] } })
})
