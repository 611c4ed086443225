import { createServer as createHttpServer } from 'node:http'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import {
  createServer,
  defineTools,
  image,
  link,
  text,
  ToolError,
  type Context,
  type RequestSession,
} from 'pierhead'
import * as v from 'valibot'
import { expectTypeOf } from 'vitest'
import { z } from 'zod'
import type { StandardSchema } from '../../src/schema/schema.ts'
import type { ToolInput, ToolOutput } from '../../src/schema/typed-tools.ts'
import type { ToolEntry, ToolFacts, ToolMap } from '../../src/app/types.ts'

const app = createServer({ name: 'types', version: '1.0.0' })
const weather = z.object({
  high: z.number(),
  low: z.number(),
  sky: z.enum(['clear', 'cloudy']).optional(),
})
const city = z.object({ city: z.string(), days: z.number().default(3) })

// The input comes from the schema, as the schema delivers it: zod, valibot, arktype, raw JSON Schema.
app.tool('zod', { input: city }, (input) => {
  expectTypeOf(input).toEqualTypeOf<{ city: string; days: number }>()
})
app.tool('valibot', { input: toStandardJsonSchema(v.object({ a: v.optional(v.number(), 1) })) }, (input) => {
  expectTypeOf(input).toEqualTypeOf<{ a: number }>()
})
app.tool('arktype', { input: type({ q: 'string', 'mode?': "'fast' | 'deep'" }) }, ({ q, mode }) => {
  expectTypeOf(q).toEqualTypeOf<string>()
  expectTypeOf(mode).toEqualTypeOf<'fast' | 'deep' | undefined>()
})
app.tool(
  'raw, without as const',
  {
    input: {
      type: 'object',
      properties: { q: { type: 'string' }, mode: { enum: ['fast', 'deep'] } },
      required: ['q'],
    },
  },
  (input) => {
    expectTypeOf(input).toEqualTypeOf<{ q: string; mode?: 'fast' | 'deep' }>()
  },
)
app.tool('none', {}, (input, ctx) => {
  expectTypeOf(input).toEqualTypeOf<Readonly<Record<string, never>>>()
  expectTypeOf(ctx).toEqualTypeOf<Context>()
})
// The values of a session are unknown, or what the caller says they are; without a session there are none.
app.tool('session', {}, async (_input, { session }) => {
  expectTypeOf(session).toEqualTypeOf<RequestSession | undefined>()
  // @ts-expect-error there may be no session
  session.id satisfies string
  expectTypeOf(await session?.get('a')).toEqualTypeOf<unknown>()
  expectTypeOf(await session!.get<number>('a')).toEqualTypeOf<number | undefined>()
  expectTypeOf(await session!.set('a', { n: 1 })).toEqualTypeOf<void>()
  expectTypeOf(await session!.delete('a')).toEqualTypeOf<boolean>()
})
app.tool('mixed', { input: type({ n: 'number' }), output: weather }, ({ n }) => ({ high: n, low: n }))
app.tool(
  'mixed too',
  { input: city, output: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } },
  ({ days }) => ({ n: days }),
)

// @ts-expect-error the input has no such key
app.tool('bad', { input: city }, ({ town }) => town)
// @ts-expect-error a string is no schema
app.tool('bad', { input: 'object' }, () => '')
// @ts-expect-error required is a list
app.tool('bad', { input: { type: 'object', required: 'city' } }, () => '')
// @ts-expect-error no such option
app.tool('bad', { descripton: 'Weather' }, () => '')
// @ts-expect-error no such hint
app.tool('bad', { hints: { readonly: true } }, () => '')
// @ts-expect-error a timeout is a duration
app.tool('bad', { timeout: true }, () => '')
// @ts-expect-error a tool has a handler
app.tool('bad', {})

// What an output schema takes, in every kind of handler. What is written stays as written.
app.tool('sync', { output: weather }, () => ({ high: 1, low: 0, sky: 'clear' }))
app.tool('sync', { input: city, output: weather }, ({ days }) => ({ high: days, low: 0, sky: 'cloudy' }))
app.tool('async', { input: city, output: weather }, async () => ({ high: 1, low: 0, sky: 'clear' }))
app.tool('generator', { input: city, output: weather }, function* ({ city: name }) {
  yield text(name)
  return { high: 1, low: 0, sky: 'clear' }
})
app.tool('async generator', { input: city, output: weather }, async function* ({ city: name }, ctx) {
  yield name
  ctx.signal.throwIfAborted()
  return { high: 1, low: 0, sky: 'clear' }
})
app.tool('a promise', { output: weather }, () => Promise.resolve({ high: 1, low: 0 }))
app.tool('whole', { output: weather }, () => ({ content: [], structuredContent: { high: 1, low: 0 } }))
app.tool('either', { output: weather }, (_input) => {
  if (Date.now() === 0) return { content: [text('no')], isError: true }
  if (Date.now() === 1) throw new ToolError('No such city')
  return { high: 1, low: 0 }
})
const deep = z.object({
  list: z.array(z.enum(['a', 'b'])),
  pair: z.tuple([z.string(), z.literal(1)]),
  shape: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('dot'), at: z.number() }),
    z.object({ kind: z.literal('path'), through: z.array(z.number()) }),
  ]),
})
app.tool('deep', { output: deep }, async () => ({
  list: ['a'],
  pair: ['x', 1],
  shape: { kind: 'dot', at: 1 },
}))
app.tool('words', { output: { enum: ['yes', 'no'] } }, (_input) => (Date.now() === 0 ? 'yes' : 'no'))
app.tool('taken', { output: z.object({ n: z.number().default(1) }) }, () => ({}))
interface Row {
  readonly high: number
  readonly low: number
  readonly station: string
}
declare const row: Row
app.tool('wider', { output: weather }, async () => row)

// @ts-expect-error a misspelt key
app.tool('bad', { output: weather }, () => ({ high: 1, lwo: 0 }))
// @ts-expect-error a missing key
app.tool('bad', { output: weather }, async () => ({ high: 1 }))
// @ts-expect-error a wrong type
app.tool('bad', { input: city, output: weather }, ({ city: name }) => ({ high: name, low: 0 }))
// @ts-expect-error a word that the schema does not have
app.tool('bad', { output: weather }, async () => ({ high: 1, low: 0, sky: 'green' }))
// @ts-expect-error a misspelt key
app.tool('bad', { output: weather }, function* () {
  yield 'x'
  return { high: 1, lwo: 0 }
})
// @ts-expect-error a misspelt key
app.tool('bad', { output: weather }, async function* () {
  yield 'x'
  return { high: 1, lwo: 0 }
})
// @ts-expect-error a generator with an output schema returns it
app.tool('bad', { output: weather }, async function* () {
  yield 'x'
})
// @ts-expect-error a misspelt key in a whole result
app.tool('bad', { output: weather }, () => ({ content: [], structuredContent: { high: 1, lwo: 0 } }))
// @ts-expect-error nothing is no output
app.tool('bad', { output: weather }, () => undefined)
// @ts-expect-error text is no output
app.tool('bad', { output: weather }, () => 'warm')

// Without an output schema, anything that can be shown.
app.tool('text', {}, () => 'text')
app.tool('number', {}, async () => 7)
app.tool('block', {}, () => image(new Uint8Array(), 'image/png'))
app.tool('blocks', {}, () => [text('a'), link('orders://7', { name: 'seven' })])
app.tool('object', {}, () => ({ any: ['thing'] }))
app.tool('nothing', {}, () => undefined)
app.tool('stream', {}, async function* () {
  yield text('a')
})

// The variables of a URI.
app.resource('orders://{id}/lines/{+path}', { mimeType: 'application/json' }, (variables) => {
  expectTypeOf(variables).toEqualTypeOf<{ id: string; path: string }>()
  return ''
})
app.resource('orders://find{?q,tag*}', {}, ({ q, tag }, ctx) => {
  expectTypeOf(q).toEqualTypeOf<string | undefined>()
  expectTypeOf(tag).toEqualTypeOf<string[]>()
  expectTypeOf(ctx).toEqualTypeOf<Context>()
  return ''
})
// @ts-expect-error the template has no such variable
app.resource('orders://{id}', {}, ({ name }) => name)
// @ts-expect-error no such option
app.resource('orders://{id}', { mime: 'text/plain' }, () => '')

// Templates list their resources by variables, which are those of the URI.
const note = { title: 'Groceries', mimeType: 'text/plain', size: 3 }
app.resource('notes://{id}', { list: () => [{ ...note, variables: { id: 7 } }] }, ({ id }) => id)
app.resource('notes://{id}', { list: async ({ auth }) => [{ variables: { id: auth?.sub ?? '' } }] }, () => '')
app.resource(
  'notes://{user}/{+path}{?q,tag*}',
  {
    *list() {
      yield { variables: { user: 'ann', path: 'a/b' } }
      yield { variables: { user: 'ann', path: 'a/b', q: undefined, tag: ['x', 1] } }
    },
  },
  () => '',
)
app.resource(
  'notes://{id}',
  {
    async *list(ctx) {
      expectTypeOf(ctx).toEqualTypeOf<Context>()
      yield { variables: { id: 'a' } }
    },
  },
  () => '',
)
// @ts-expect-error the template has no such variable
app.resource('notes://{id}', { list: () => [{ variables: { key: 'x' } }] }, () => '')
// @ts-expect-error the variable is missing
app.resource('notes://{id}', { list: () => [{ title: 'x', variables: {} }] }, () => '')
// @ts-expect-error the variables are missing
app.resource('notes://{id}', { list: () => [{ uri: 'notes://7' }] }, () => '')
declare const someUri: string
app.resource(someUri, { list: () => [{ variables: { anything: 'x', list: ['x'] } }] }, () => '')

// Updates: options may be left out or removed; a handler gets what the new schema delivers, or declares its input.
app.update('tool', 'forecast', { description: undefined, timeout: '5s' })
app.update('tool', 'forecast', { input: city, output: weather }, ({ days }) => ({ high: days, low: days }))
app.update('tool', 'forecast', {}, ({ city: given }: { city: string }) => given)
app.update('resource', 'orders://{id}', { mimeType: 'text/plain' }, ({ id }) => id.toUpperCase())
app.update('resource', 'orders://{id}', { list: () => [{ variables: { id: 1 } }] })
app.update('prompt', 'triage', { args: z.object({ id: z.string() }) }, ({ id }) => id.toUpperCase())
app.enable('tool', 'forecast').disable('prompt', 'triage').changed('tools')
// @ts-expect-error without its schema, the input is not known
app.update('tool', 'forecast', {}, ({ days }) => days.toFixed())
// @ts-expect-error the handler does not return what the output says
app.update('tool', 'forecast', { output: weather }, () => ({ high: 1 }))
// @ts-expect-error no such option
app.update('tool', 'forecast', { titel: 'x' })
// @ts-expect-error no such kind
app.disable('template', 'orders://{id}')
// @ts-expect-error no such list
app.changed('templates')

// Prompts and completion.
app.prompt('triage', { args: z.object({ id: z.string() }) }, ({ id }) => `Triage ${id.toUpperCase()}`)
app.prompt(
  'raw',
  { args: { type: 'object', properties: { id: { type: 'string' } } } },
  ({ id }) => `${id?.length}`,
)
app.prompt('none', {}, () => [{ role: 'user', content: 'hi' }])
// @ts-expect-error the prompt has no such argument
app.prompt('bad', { args: z.object({ id: z.string() }) }, ({ order }) => order)
app.complete('triage', 'id', (value, known) => [value, ...Object.values(known)])
app.complete('triage', 'id', async () => ({ values: ['1'], total: 9, hasMore: true }))
// @ts-expect-error values are strings
app.complete('triage', 'id', () => [1])

// Forms: the answer has the type of the schema once it was accepted.
app.tool('ask', {}, async (_input, ctx) => {
  const answer = await ctx.elicit('How much?', z.object({ amount: z.number() }))
  // @ts-expect-error the user may have declined
  void answer.content.amount
  if (answer.action !== 'accept') return 'declined'
  expectTypeOf(answer.content).toEqualTypeOf<{ amount: number }>()
  expectTypeOf(await ctx.once('hold', () => ({ id: 7 }))).toEqualTypeOf<{ id: number }>()
  // @ts-expect-error a model is asked something
  await ctx.sample({ maxTokens: 10 })
  return answer.content.amount
})

// What provide adds is known to tools, resources, prompts, completion, middleware and visible.
interface Tenant {
  readonly id: string
  readonly plan: 'free' | 'paid'
}
declare function tenantOf(auth: Context['auth']): Promise<Tenant>
declare function open(tenant: string): { query(text: string): string[] }
const orders = createServer({ name: 'orders', version: '1.0.0' })
  .provide(async (ctx) => ({ tenant: await tenantOf(ctx.auth) }))
  .provide((ctx) => ({ db: open(ctx.tenant.id) }))
orders.tool('list', { visible: (ctx) => ctx.tenant.plan !== 'free' }, (_input, { db, tenant }) => {
  expectTypeOf(tenant).toEqualTypeOf<Tenant>()
  return db.query('all')
})
orders.resource('orders://{id}', { visible: (ctx) => ctx.tenant.plan === 'paid' }, ({ id }, ctx) =>
  ctx.db.query(id),
)
orders.resource(
  'orders://{id}',
  { list: (ctx) => ctx.db.query('ids').map((id) => ({ variables: { id } })) },
  () => '',
)
orders.update(
  'tool',
  'list',
  { visible: (ctx) => ctx.tenant.plan === 'paid' },
  (_input: object, ctx) => ctx.db,
)
orders.prompt('sum', { visible: (ctx) => ctx.tenant.id !== '' }, (_args, ctx) => ctx.tenant.id)
orders.complete('sum', 'id', (value, _known, ctx) => ctx.db.query(value))
orders.use('tools/call', async (ctx, next) => {
  expectTypeOf(ctx.tenant).toEqualTypeOf<Tenant>()
  return next()
})
orders.use((ctx, next) => (ctx.tenant?.plan === 'free' ? {} : next()))
// @ts-expect-error the handshake has no tenant
orders.use((ctx, next) => (ctx.tenant.plan === 'free' ? {} : next()))
// @ts-expect-error the first server provides nothing
app.tool('bad', {}, (_input, ctx) => ctx.tenant)
// @ts-expect-error a context is read-only
orders.tool('bad', {}, (_input, ctx) => (ctx.tenant = { id: '', plan: 'free' }))
// @ts-expect-error every context has a signal
orders.provide(() => ({ signal: 1 }))
// @ts-expect-error an addition is an object
orders.provide(() => 7)

// A flat map: each handler from its own schemas, whatever stands beside it.
const tools = defineTools({
  find: {
    description: 'Finds orders.',
    input: z.object({ q: z.string(), limit: z.number().default(10) }),
    output: z.object({ total: z.number(), first: z.enum(['late', 'paid']).optional() }),
    run: ({ q, limit }) => ({ total: q.length + limit, first: 'late' }),
  },
  refund: { input: type({ id: 'string' }), run: async ({ id }, ctx) => `${ctx.method} ${id.toUpperCase()}` },
  count: {
    output: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    async *run() {
      yield 'counting'
      return { n: 1 }
    },
  },
  raw: {
    input: { type: 'object', properties: { mode: { enum: ['a', 'b'] } }, required: ['mode'] },
    run: ({ mode }) => {
      expectTypeOf(mode).toEqualTypeOf<'a' | 'b'>()
    },
  },
  wrapped: { input: toStandardJsonSchema(v.object({ q: v.string() })), run: ({ q }) => q.length },
  ping: { run: () => 'pong' },
})
app.add(tools)
createServer({ id: 'map', version: '1', tools })
expectTypeOf<keyof typeof tools>().toEqualTypeOf<'find' | 'refund' | 'count' | 'raw' | 'wrapped' | 'ping'>()
expectTypeOf(tools).toExtend<ToolMap>()

// What a typed client makes of it: what is sent, before defaults, and what comes back.
type Tools = typeof tools
expectTypeOf<ToolInput<Tools, 'find'>>().toEqualTypeOf<{ q: string; limit?: number | undefined }>()
expectTypeOf<ToolOutput<Tools, 'find'>>().toEqualTypeOf<{
  total: number
  first?: 'late' | 'paid' | undefined
}>()
expectTypeOf<ToolInput<Tools, 'refund'>>().toEqualTypeOf<{ id: string }>()
expectTypeOf<ToolOutput<Tools, 'refund'>>().toEqualTypeOf<unknown>()
expectTypeOf<ToolInput<Tools, 'count'>>().toEqualTypeOf<Readonly<Record<string, never>>>()
expectTypeOf<ToolOutput<Tools, 'count'>>().toEqualTypeOf<{ n: number }>()
expectTypeOf<ToolInput<Tools, 'raw'>>().toEqualTypeOf<{ mode: 'a' | 'b' }>()
expectTypeOf<ToolInput<Tools, 'wrapped'>>().toEqualTypeOf<{ q: string }>()

// @ts-expect-error a misspelt output key
defineTools({ bad: { output: weather, run: () => ({ high: 1, lwo: 0 }) } })
// @ts-expect-error a misspelt output key, beside a tool that is fine
defineTools({ fine: { run: () => 1 }, bad: { output: weather, run: async () => ({ high: 1, lwo: 0 }) } })
// @ts-expect-error the input has no such key
defineTools({ bad: { input: city, run: ({ town }) => town } })
// @ts-expect-error where there is no schema there is no input
defineTools({ bad: { run: ({ town }) => town.length } })
// @ts-expect-error no such option
defineTools({ bad: { descripton: 'x', run: () => 1 } })
// @ts-expect-error a tool has a handler
defineTools({ bad: { input: city } })

// A map of tools may need what a server provides; only such a server takes it.
type OrderContext = Context & { readonly tenant: Tenant }
const tenantTools = defineTools({
  mine: { input: city, run: ({ city: name }, ctx: OrderContext) => `${name} ${ctx.tenant.id}` },
  plan: { visible: (ctx) => ctx.tenant.plan === 'paid', run: (_input, { tenant }) => tenant.plan },
})
orders.add(tenantTools)
// @ts-expect-error the first server provides no tenant
app.add(tenantTools)
// @ts-expect-error nor does one that is given its tools at once
createServer({ name: 'map', version: '1', tools: tenantTools })

// The parameter of defineTools names each fact of a tool.
type Given = Parameters<typeof defineTools<{ one: typeof city }, { one: typeof weather }>>[0]['one']
expectTypeOf<keyof Given>().toEqualTypeOf<keyof ToolEntry<typeof city, typeof weather, Context>>()
expectTypeOf<Pick<Given, keyof ToolFacts<Context>>>().toEqualTypeOf<
  Pick<ToolFacts<Context>, keyof ToolFacts<Context>>
>()

// Mounting needs no casts.
createHttpServer(app.node())
express().use('/mcp', app.node({ cors: ['https://app.example'] }))
express().post('/mcp', app.node())
const handle = app.node()
fastify().all('/mcp', (request, reply) => {
  reply.hijack()
  handle(request.raw, reply.raw)
})
new Hono().all('/mcp', (c) => app.fetch(c.req.raw))
expectTypeOf(app).toExtend<{ fetch(request: Request): Promise<Response> }>()
// @ts-expect-error a web request is not a Node request and its response
new Hono().all('/mcp', (c) => handle(c))
// @ts-expect-error the framework owns the port
app.node({ port: 3000 })

// Options.
// @ts-expect-error no such option
createServer({ name: 'x', version: '1', tool: {} })
// @ts-expect-error a version is needed
createServer({ name: 'x' })
// @ts-expect-error no such transport
createServer({ name: 'x', version: '1', transports: ['smoke'] })
// @ts-expect-error no such kind
app.remove('tools', 'find')
// @ts-expect-error a port is a number
void app.listen({ http: { port: '3000' } })

// Schemas that only the run knows promise nothing; a plain object of tools is a map of tools.
declare const loaded: Record<string, unknown>
app.tool('loaded', { input: loaded }, (input) => {
  expectTypeOf(input).toEqualTypeOf<unknown>()
})
declare const wide: StandardSchema<unknown, { n: number }>
app.tool('wide', { input: wide }, ({ n }) => n.toFixed())
app.add({ plain: { description: 'x', input: city, run: ({ city: name }: { city: string }) => name } })
const chained: typeof orders = orders.tool('chained', {}, () => 1).prompt('chained', {}, () => '')
void chained

// A map in which each tool is functions only keeps no names, but its handlers know what they are given.
const functions = defineTools({
  mine: { run: (_input, ctx: OrderContext) => ctx.tenant.id },
  method: { visible: (ctx) => ctx.tenant.plan === 'paid', run: (_input, ctx) => ctx.method.length },
})
orders.add(functions)
// @ts-expect-error the first server provides no tenant
app.add(functions)
app.add(defineTools({}))
