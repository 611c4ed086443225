import { expect } from 'vitest'
import { createServer, validateMessageSize } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import { ALL_ERRORS } from '../../tools/pages/errors.ts'
import { OUTCOMES } from '../../tools/pages/limits.ts'
import type { Client } from '../harness/client.ts'
import type { AnyApp } from '../harness/connection.ts'
import { scenario } from '../harness/scenario.ts'

/** One limit on what a message may hold. */
interface Row {
  readonly limit: keyof Limits
  /** The value to test with; also tested by what is said of the limit itself. */
  readonly value: number
  readonly what: string
  readonly since?: Revision
  readonly until?: Revision
  /** The text of a request that is so long, large, deep or many. */
  text(client: Client, size: number): string
}

const ROWS: readonly Row[] = [
  { limit: 'depth', value: 20, what: 'levels of nesting', text: nested },
  { limit: 'keys', value: 30, what: 'members in all objects', text: populated },
  { limit: 'values', value: 40, what: 'values, list items among them', text: listed },
  {
    limit: 'stringLength',
    value: 100,
    what: 'characters in a string',
    text: (client, size) => asked(client, 'tools/call', { name: 'echo', arguments: { text: word(size) } }),
  },
  {
    limit: 'stringLength',
    value: 100,
    what: 'characters in a key',
    text: (client, size) => asked(client, 'tools/call', { name: 'any', arguments: { [word(size)]: 1 } }),
  },
  { limit: 'idLength', value: 40, what: 'characters in an id', text: identified },
  {
    limit: 'methodLength',
    value: 30,
    what: 'characters in a method',
    text: (client, size) => asked(client, word(size)),
  },
  {
    limit: 'nameLength',
    value: 30,
    what: 'characters in the name of a tool',
    text: (client, size) => asked(client, 'tools/call', { name: word(size) }),
  },
  {
    limit: 'nameLength',
    value: 30,
    what: 'characters in the name of a prompt',
    text: (client, size) => asked(client, 'prompts/get', { name: word(size) }),
  },
  {
    limit: 'nameLength',
    value: 30,
    what: 'characters in the name of a prompt to complete',
    text: (client, size) => {
      const ref = { type: 'ref/prompt', name: word(size) }
      return asked(client, 'completion/complete', { ref, argument: { name: 'a', value: '' } })
    },
  },
  {
    limit: 'uriLength',
    value: 50,
    what: 'characters in a URI to read',
    text: (client, size) => asked(client, 'resources/read', { uri: uri(size) }),
  },
  {
    limit: 'uriLength',
    value: 50,
    what: 'characters in a URI to subscribe to',
    until: '2025-11-25',
    text: (client, size) => asked(client, 'resources/subscribe', { uri: uri(size) }),
  },
  {
    limit: 'uriLength',
    value: 50,
    what: 'characters in a URI to listen for',
    since: '2026-07-28',
    text: (client, size) =>
      asked(client, 'subscriptions/listen', { notifications: { resourceSubscriptions: [word(size)] } }),
  },
  {
    limit: 'cursorLength',
    value: 60,
    what: 'characters in a cursor',
    text: (client, size) => asked(client, 'tools/list', { cursor: word(size) }),
  },
  {
    limit: 'batch',
    value: 5,
    what: 'messages in a batch',
    since: '2025-03-26',
    until: '2025-03-26',
    text: (client, size) =>
      `[${Array.from({ length: size }, (_, at) => client.requestText(at, 'ping')).join()}]`,
  },
]

/** Beyond these nothing of the message is read, not even its id. */
const UNREAD: ReadonlySet<keyof Limits> = new Set([
  'depth',
  'keys',
  'values',
  'stringLength',
  'idLength',
  'batch',
] as const)

for (const { limit, value, what, text, ...revisions } of ROWS) {
  const kind = OUTCOMES[limit]
  const row = ALL_ERRORS[kind]!
  scenario(
    `limits.${limit} ${what} are refused from one more on, with an error of their own that is counted`,
    () => make({ [limit]: value }),
    async (client, _, { app }) => {
      for (const size of [value - 1, value]) {
        const reply = (await client.post(text(client, size))) as JsonObject
        expect([size, app.counts.get(kind) ?? 0, messageOf(reply)]).toEqual([
          size,
          0,
          expect.not.stringMatching(wordsOf(row.text, value)),
        ])
      }
      const { error, id } = (await client.post(text(client, value + 1))) as {
        error: JsonObject
        id?: unknown
      }
      expect([error['code'], error['message']]).toEqual([
        row.code,
        expect.stringMatching(wordsOf(row.text, value)),
      ])
      expect(app.counts.get(kind)).toBe(1)
      expect(row.hint).toMatch(/\.$/)
      if (UNREAD.has(limit)) expect(id).toBeUndefined()
      else expect(id).toBe('sized')
      expect(await client.call('echo', { text: 'still here' })).toMatchObject({
        content: [{ text: 'still here' }],
      })
    },
    revisions,
  )
}

const BYTES = { memory: 'memoryBytes', stdio: 'stdioBytes', http: 'httpBytes' } as const
const LARGE = {
  memoryBytes: 3000,
  stdioBytes: 3000,
  httpBytes: 3000,
  tcpBytes: 3000,
  wsBytes: 3000,
  sseBytes: 3000,
}

scenario(
  'limits.memoryBytes limits.stdioBytes limits.httpBytes limits.tcpBytes limits.wsBytes limits.sseBytes a message is refused from one byte more on, as validateMessageSize says, and the next one is served [S2-1.6-7] [S2-13-S5] [S2-11.4-2] [S2-11.4-5]',
  () => make(LARGE),
  async (client, _, { app, transport, join }) => {
    const sized = (bytes: number): string => {
      const text = client.requestText('sized', 'tools/call', { name: 'echo', arguments: { text: '' } })
      return text.replace('"text":""', `"text":"${'x'.repeat(bytes - text.length)}"`)
    }
    const kind = transport === 'tls' ? 'tcp' : transport
    for (const bytes of [2999, 3000]) {
      expect(() => validateMessageSize(kind, sized(bytes), LARGE)).not.toThrow()
      expect(await client.post(sized(bytes))).toMatchObject({ id: 'sized', result: { isError: false } })
    }
    const said = 'the message is larger than 3000 bytes'
    expect(() => validateMessageSize(kind, sized(3001), LARGE)).toThrow(said)
    const reply = await client.post(sized(3001))
    expect(reply).toMatchObject({
      error: {
        code: -32600,
        message: said,
        data: { refusal: { code: 1068 } },
      },
    })
    expect(app.counts.get(OUTCOMES[BYTES.http])).toBe(1)
    // A WebSocket ends with a message that is too large: the next comes on another.
    const next = transport === 'ws' ? await join() : client
    expect(await next.call('echo', { text: 'still here' })).toMatchObject({ isError: false })
  },
)

scenario(
  'limits of Infinity refuse nothing [S2-1.6-6]',
  () => {
    const off = [...ROWS.map(({ limit }) => limit), ...Object.keys(LARGE), 'unparsedBytes']
    return make(Object.fromEntries(off.map((limit) => [limit, Number.POSITIVE_INFINITY])))
  },
  async (client, revision, { app }) => {
    for (const { text, since = revision, until = revision } of ROWS) {
      if (revision >= since && revision <= until) await client.post(text(client, 200))
    }
    const kinds = ROWS.map(({ limit }) => OUTCOMES[limit])
    expect(kinds.filter((kind) => app.counts.has(kind))).toEqual([])
  },
)

function make(limits: Partial<Limits>): AnyApp {
  const app = createServer({ name: 'limited', version: '1', limits, log: () => undefined })
    .tool(
      'echo',
      { input: { type: 'object', properties: { text: { type: 'string' } } } },
      ({ text }) => text ?? '',
    )
    .tool('any', { input: { type: 'object' } }, () => 'any')
    .prompt('greet', { args: { type: 'object', properties: { a: { type: 'string' } } } }, () => 'hello')
    .complete('greet', 'a', () => ['b'])
    .resource('note://{+name}', {}, () => 'a note')
  return app as AnyApp
}

function asked(client: Client, method: string, params: JsonObject = {}): string {
  return client.requestText('sized', method, params)
}

function nested(client: Client, levels: number): string {
  // The message, its params and the arguments are three levels.
  const value = '['.repeat(levels - 3) + ']'.repeat(levels - 3)
  return asked(client, 'tools/call', { name: 'any', arguments: { a: 'x' } }).replace('"x"', value)
}

/** A request whose objects have so many members in all, some of them inside others. */
function populated(client: Client, members: number): string {
  const text = asked(client, 'tools/call', { name: 'any', arguments: { a: [{ b: 1 }] } })
  let count = 0
  JSON.parse(text, function (this: unknown, key: string, value: unknown) {
    if (key !== '' && !Array.isArray(this)) count++
    return value
  })
  const more = Array.from({ length: members - count }, (_, at) => `"k${at}" \t : ":,{}"`)
  return text.replace('"b":1', ['"b":1', ...more].join(','))
}

/** A request of so many values in all, most of them empty lists and objects. */
function listed(client: Client, values: number): string {
  const text = asked(client, 'tools/call', { name: 'any', arguments: { a: [['x', 1, null], {}, []] } })
  let count = 0
  JSON.parse(text, (_, value: unknown) => (count++, value))
  const more = Array.from({ length: values - count }, (_, at) => (at % 2 === 0 ? '{ }' : '[]'))
  return text.replace('"x"', ['",[{"', ...more].join(' , '))
}

function identified(client: Client, size: number): string {
  return client.requestText('i'.repeat(size), 'tools/call', { name: 'any', arguments: {} })
}

function word(size: number): string {
  return 'w'.repeat(size)
}

function uri(size: number): string {
  return `note://${'n'.repeat(size - 'note://'.length)}`
}

/** The words of an error, with the limit in its place and anything for other facts. */
function wordsOf(text: string, value: number): RegExp {
  return new RegExp(text.replaceAll('{limit}', String(value)).replaceAll(/\{\w+\}/g, '.*'))
}

function messageOf(reply: JsonObject): string {
  return (reply['error'] as { readonly message: string } | undefined)?.message ?? ''
}
