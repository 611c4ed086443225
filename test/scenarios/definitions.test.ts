import { describe, expect, test } from 'vitest'
import { createServer, type App } from '../../src/index.ts'
import { allErrors } from '../../src/errors/all.ts'
import type { ErrorRow } from '../../src/errors/row.ts'
import { JSONRPC } from '../../src/protocol/jsonrpc.ts'
import { META } from '../../src/protocol/meta.ts'
import { isMethodAt, METHODS, type MethodRow } from '../../src/protocol/methods.ts'
import { isRetryable, REFUSALS, type RefusalRow } from '../../src/protocol/refusals.ts'
import { RESERVED_REFUSALS } from '../../src/protocol/reserved-refusals.ts'
import { REVISIONS, type Revision } from '../../src/protocol/revisions.ts'
import { open } from '../harness/client.ts'

const make = (): App => createServer({ name: 'x', version: '1' })
const run = (): string => 'x'

describe('what no client could use is refused when it is defined', () => {
  test('names of tools and prompts have 1 to 128 plain characters [R152]', () => {
    for (const name of ['', 'a b', 'ü', 'a/b', 'x'.repeat(129), 'a\n']) {
      expect(() => make().tool(name, {}, run)).toThrow(
        'a name has 1 to 128 of the characters A-Z a-z 0-9 _ . -',
      )
      expect(() => make().prompt(name, {}, run)).toThrow('a name has 1 to 128 of the characters')
    }
    for (const name of ['a', 'A-z_0.9', 'x'.repeat(128)])
      expect(() => make().tool(name, {}, run)).not.toThrow()
  })

  test('names are unique among their kind [R152] [S2-4.2-2]', () => {
    const app = make()
      .tool('a', {}, run)
      .prompt('a', {}, run)
      .resource('a://b', {}, run)
      .resource('a://{b}', {}, run)
    expect(() => app.tool('a', {}, run)).toThrow(
      'tool "a": it already exists; change it with app.update, or remove it first to replace it',
    )
    expect(() => app.prompt('a', {}, run)).toThrow('prompt "a": it already exists')
    expect(() => app.resource('a://b', {}, run)).toThrow('resource "a://b": it already exists')
    expect(() => app.resource('a://{b}', {}, run)).toThrow('resource "a://{b}": it already exists')
    app.remove('tool', 'a')
    expect(() => app.tool('a', {}, run)).not.toThrow()
  })

  test('the input of a tool is an object schema [R141] [S0-4.4] [S2-4.2-3] [S2-4.2-2]', () => {
    for (const input of [{ type: 'string' }, { type: 'array' }, {}, { type: ['object', 'null'] }]) {
      expect(() => make().tool('a', { input } as never, run)).toThrow(/^tool "a": /)
    }
    for (const input of [5, 'x', [], true, null]) {
      expect(() => make().tool('a', { input } as never, run)).toThrow(/^tool "a": .*schema/)
    }
    const invalid = [{ a: { type: 'text' } }, { a: { minLength: '1' } }, { a: 5 }, []]
    for (const properties of invalid) {
      const input = { type: 'object', properties }
      expect(() => make().tool('a', { input } as never, run)).toThrow(/^tool "a": input: /)
    }
  })

  test('a schema never points to the network [R154] [S1-5-6]', () => {
    for (const $ref of [
      'https://x.example/schema.json',
      'other.json',
      '#/$defs/none',
      'file:///etc/passwd',
    ]) {
      const input = { type: 'object', properties: { a: { $ref } } }
      expect(() => make().tool('a', { input }, run)).toThrow(/^tool "a": input: /)
    }
    const local = {
      type: 'object',
      properties: { a: { $ref: '#/$defs/b' } },
      $defs: { b: { type: 'string' } },
    }
    expect(() => make().tool('a', { input: local }, run)).not.toThrow()
  })

  test('URIs and templates can be read [R177] [S2-3.2-2]', () => {
    expect(() => make().resource('not a uri', {}, run)).toThrow('it is not a URI')
    expect(() => make().resource('a://{b', {}, run)).toThrow('resource "a://{b": ')
    expect(() => make().resource('a://{b}{b!}', {}, run)).toThrow('resource "a://{b}{b!}": ')
  })

  test('an option that does not exist is named, with the one that was meant', () => {
    expect(() => make().tool('a', { descripton: 'x' } as never, run)).toThrow(
      'there is no option "descripton"; did you mean "description"?',
    )
    expect(() => createServer({ name: 'x', version: '1', instruction: 'x' } as never)).toThrow(
      'did you mean "instructions"?',
    )
  })

  test('a server has a name and a version [S0-1.5]', () => {
    for (const key of ['name', 'version']) {
      const make = (value: unknown) => () => createServer({ name: 'x', version: '1', [key]: value } as never)
      for (const none of ['', undefined]) expect(make(none)).toThrow(`a server needs a ${key}`)
      expect(make(5)).toThrow(`${key} must be a string, not 5`)
    }
  })
})

describe('the tables', () => {
  const TABLE: Readonly<Record<string, ErrorRow>> = Object.fromEntries(allErrors())

  test('every error has an integer code, a text and a remedy [R007] [S0-2.3] [S3-7.3-2]', () => {
    for (const row of Object.values(TABLE)) {
      expect(Number.isInteger(row.code)).toBe(true)
      expect(row.text).not.toBe('')
      expect(row.hint).toMatch(/\.$/)
    }
  })

  test('what is sent at 2026-07-28 keeps out of the reserved codes, and private codes out of the whole band [R021] [R022]', () => {
    const official = [-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022]
    for (const [kind, row] of Object.entries(TABLE)) {
      // The code of a custom error is the handler's, and never a reserved one.
      if (row.where !== undefined || ONLY_BEFORE_2026.includes(kind) || kind === 'custom') continue
      expect([kind, official.includes(row.code) || row.code > 0]).toEqual([kind, true])
    }
  })

  test('every refusal has a code, an HTTP status, a severity and a reaction [S2-8.3-1] [S2-8.3-2]', () => {
    const rows = Object.values<RefusalRow>({ ...REFUSALS, ...RESERVED_REFUSALS })
    expect(new Set(rows.map(({ code }) => code)).size).toBe(61)
    for (const { http, severity, reaction } of rows) {
      expect(http).toBeGreaterThanOrEqual(400)
      expect(['warn', 'error', 'critical']).toContain(severity)
      expect(['fix', 'back off', 'authenticate', 'initialize', 'reconnect', 'give up']).toContain(reaction)
    }
    expect(REFUSALS.INTERNAL_ERROR.severity).toBe('critical')
  })

  test('an error is retryable when its refusal asks to back off or to reconnect, unless part of the work may be done', () => {
    for (const [kind, { refusal, retryable = false }] of Object.entries(TABLE)) {
      const mayBeDone = kind === 'node_lost'
      const asked = refusal !== undefined && isRetryable(REFUSALS[refusal])
      expect([kind, retryable]).toEqual([kind, asked && !mayBeDone])
    }
  })

  test('revisions, methods and metadata keys have names [S2-1.1-5] [S2-2.5-1] [S2-2.5-4]', () => {
    expect(REVISIONS).toEqual(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'])
    for (const revision of REVISIONS) expect(revision).toMatch(/^\d{4}-\d{2}-\d{2}$/)
    expect(JSONRPC).toBe('2.0')
    expect(Object.keys(METHODS)).toContain('tools/call')
    for (const key of Object.values(META))
      expect(key).toMatch(/^(progressToken|io\.modelcontextprotocol\/[A-Za-z-]+)$/)
  })

  test('each revision has the methods that it officially has [S2-2.5-4] [S2-1.1-5]', () => {
    const methodsAt = (revision: Revision): string[] =>
      Object.entries<MethodRow>(METHODS).flatMap(([method, row]) =>
        isMethodAt(row, revision) ? [method] : [],
      )
    const first = [
      'initialize',
      'ping',
      'completion/complete',
      'logging/setLevel',
      'tools/list',
      'tools/call',
      'prompts/list',
      'prompts/get',
      'sampling/createMessage',
      'roots/list',
      ...['list', 'templates/list', 'read', 'subscribe', 'unsubscribe'].map((name) => `resources/${name}`),
      ...['initialized', 'cancelled', 'progress', 'message'].map((name) => `notifications/${name}`),
      ...['tools', 'resources', 'prompts', 'roots'].map((name) => `notifications/${name}/list_changed`),
      'notifications/resources/updated',
    ]
    const third = [...first, 'elicitation/create']
    const tasks = ['tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel', 'notifications/tasks/status']
    const fourth = [...third, 'notifications/elicitation/complete', ...tasks]
    const gone = [
      ...tasks,
      'initialize',
      'ping',
      'logging/setLevel',
      'resources/subscribe',
      'resources/unsubscribe',
      ...['initialized', 'roots/list_changed', 'elicitation/complete'].map((name) => `notifications/${name}`),
    ]
    const fifth = [
      ...fourth.filter((method) => !gone.includes(method)),
      'server/discover',
      'subscriptions/listen',
      'notifications/subscriptions/acknowledged',
      // Those of the extension for tasks.
      'tasks/get',
      'tasks/update',
      'tasks/cancel',
      'notifications/tasks',
    ]
    for (const [at, methods] of [first, first, third, fourth, fifth].entries())
      expect(methodsAt(REVISIONS[at] as Revision).toSorted()).toEqual(methods.toSorted())
  })
})

/** An error of sessions, which 2026-07-28 does not have. */
const ONLY_BEFORE_2026 = ['unknown_session']

test('a listen request ends with an empty result when the server stops [R230]', async () => {
  const client = await open(make().tool('a', {}, run), { transport: 'stdio', revision: '2026-07-28' })
  await client.follow({ lists: ['tools'] })
  await client.close()
  const last = JSON.parse(client.transcript.at(-1)!.text) as object
  expect(last).toEqual({
    jsonrpc: '2.0',
    id: 1,
    result: {
      resultType: 'complete',
      _meta: { [META.subscriptionId]: 1, [META.serverInfo]: { name: 'x', version: '1' } },
    },
  })
})
