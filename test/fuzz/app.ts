import { z } from 'zod'
import { createServer } from '../../src/index.ts'
import type { Context } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { decodeHeaderValue } from '../../src/wire/headers.ts'
import type { AnyApp } from '../harness/connection.ts'

/** What a handler throws and nobody may ever see. */
export const SECRET = 'hunter2-canary /srv/private/keys.pem'

/** A server of all that a server can have, and what went wrong in it. */
export interface Watched {
  readonly app: AnyApp
  /** What handlers were given and should not have been, and what failed that nobody threw on purpose. */
  readonly faults: string[]
}

const DIRECT = {
  type: 'object',
  properties: {
    text: { type: 'string', maxLength: 20 },
    count: { type: 'integer', minimum: 0, maximum: 9 },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 3 },
    mode: { enum: ['fast', 'slow'] },
  },
  required: ['text'],
  additionalProperties: false,
} as const
const FULL = {
  type: 'object',
  properties: { code: { type: 'string', pattern: '^[A-Z]{2}[0-9]{2}$' }, node: { $ref: '#/$defs/node' } },
  required: ['code'],
  $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } }, maxProperties: 1 } },
} as const
const HEADED = {
  type: 'object',
  properties: { pier: { type: 'string', 'x-mcp-header': 'Pier' } },
  required: ['pier'],
} as const
const FORM = {
  type: 'object',
  properties: {
    ship: { type: 'string' },
    crew: { type: 'integer' },
    cargo: { type: 'array', items: { type: 'string', enum: ['coal', 'tea'] } },
  },
  required: ['ship'],
} as const

export function watched(): Watched {
  const faults: string[] = []
  const expect = (holds: boolean, handler: string, input: unknown): void => {
    if (!holds) faults.push(`${handler} ran with ${JSON.stringify(input)?.slice(0, 300)}`)
  }
  const log = (level: string, message: string, facts?: JsonObject): void => {
    // Warnings tell the operator what a client did, such as sending another Host.
    if (level === 'warning') return
    const error = facts?.['error']
    if (!String((error as Error | undefined)?.message).includes(SECRET))
      faults.push(`${message}: ${(error as Error | undefined)?.stack ?? JSON.stringify(facts)}`)
  }
  const app = createServer({
    name: 'fuzz',
    version: '1',
    log,
    pageSize: 5,
    secret: 'for the fuzzer alone, not for anybody else',
    limits: { drainMs: 50 },
  })
    .tool(
      'echo',
      { input: z.object({ text: z.string(), times: z.number().int().min(1).max(3).optional() }) },
      (input) => {
        expect(typeof input.text === 'string' && [undefined, 1, 2, 3].includes(input.times), 'echo', input)
        return input.text
      },
    )
    .tool('direct', { input: DIRECT }, (input) => {
      expect(isDirect(input), 'direct', input)
      return { seen: Object.keys(input).length }
    })
    .tool('full', { input: FULL }, (input) => {
      expect(/^[A-Z]{2}[0-9]{2}$/.test(input.code) && isNode(input.node), 'full', input)
      return input.code
    })
    .tool('any', { input: { type: 'object' } }, (input) => {
      expect(isObject(input), 'any', input)
      return `${Object.keys(input as object).length} members`
    })
    .tool('headed', { input: HEADED }, (input, { header, revision }) => {
      const sent = header('mcp-param-pier')
      const seen =
        header('mcp-method') === undefined ||
        (sent !== undefined && decodeHeaderValue(sent) === Buffer.from(input.pier).toString())
      expect(typeof input.pier === 'string' && (revision !== '2026-07-28' || seen), 'headed', [input, sent])
      return 'headed'
    })
    .tool(
      'typed',
      {
        input: DIRECT,
        output: { type: 'object', properties: { said: { type: 'string' } }, required: ['said'] },
      },
      ({ text }) => ({ said: text }),
    )
    .tool('boom', {}, () => {
      throw new Error(SECRET)
    })
    .tool('later', { input: DIRECT }, (input, context) => steps(input.count ?? 1, context))
    .tool('ask', {}, async (_, { elicit }) => {
      const answer = await elicit('which ship?', FORM)
      const content = answer.content ?? { ship: '', crew: 1 }
      expect(
        typeof content.ship === 'string' && (content.crew === undefined || Number.isInteger(content.crew)),
        'ask',
        answer,
      )
      return answer.action
    })
    .tool(
      'askModel',
      {},
      async (_, { sample }) => (await sample({ messages: [{ role: 'user', content: 'hi' }] })).model,
    )
    .tool('askRoots', {}, async (_, { roots }) => (await roots()).map(({ uri }) => uri).join(' '))
    .prompt('greet', { args: z.object({ who: z.string(), tone: z.string().optional() }) }, (args) => {
      expect(typeof args.who === 'string', 'greet', args)
      return `Hello ${args.who}`
    })
    .prompt('boom', {}, () => Promise.reject(new Error(SECRET)))
    .resource('note://one', {}, () => 'one')
    .resource('note://bytes', { mimeType: 'application/octet-stream' }, () => new Uint8Array([0, 255, 10]))
    .resource('note://boom', {}, () => {
      throw new Error(SECRET)
    })
    .resource('item://{id}', {}, ({ id }) => {
      expect(typeof id === 'string' && id !== '', 'item', id)
      return `item ${id}`
    })
    .resource('path:///{+path}{?q}', {}, ({ path }) => `path ${path}`)
    .complete('greet', 'who', (value, known) => [value, ...Object.keys(known)])
    .complete('item://{id}', 'id', () => Promise.reject(new Error(SECRET)))
  return { app: app as AnyApp, faults }
}

async function steps(count: number, { progress, log, signal }: Context): Promise<string> {
  for (let step = 1; step <= count && !signal.aborted; step++) {
    progress(step, count, `step ${step}`)
    log.info({ step })
    await new Promise((resolve) => setImmediate(resolve))
  }
  return 'done'
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isDirect(input: unknown): boolean {
  if (!isObject(input)) return false
  const { text, count = 0, tags = [], mode = 'fast', ...rest } = input
  const counted = Number.isInteger(count) && (count as number) >= 0 && (count as number) <= 9
  const tagged = Array.isArray(tags) && tags.length <= 3 && tags.every((tag) => typeof tag === 'string')
  return (
    typeof text === 'string' &&
    Array.from(text).length <= 20 &&
    counted &&
    tagged &&
    (mode === 'fast' || mode === 'slow') &&
    Object.keys(rest).length === 0
  )
}

function isNode(node: unknown): boolean {
  if (node === undefined) return true
  return (
    isObject(node) && Object.keys(node).length <= 1 && (!Object.hasOwn(node, 'next') || isNode(node['next']))
  )
}
