import { expectTypeOf } from 'vitest'
import { z } from 'zod'
import {
  createServer,
  defineTools,
  text,
  type App,
  type Context,
  type ServerMethod,
  type ServerOptions,
} from 'pierhead'
import {
  connect,
  connectAll,
  createClient,
  type AnyTools,
  type Client,
  type ClientMethod,
} from 'pierhead/client'
import { testClient } from 'pierhead/testing'
import type { METHODS } from '../../src/protocol/methods.ts'

const more = defineTools({
  count: { output: z.array(z.number()), run: () => [1] },
  greet: { input: z.object({ name: z.string() }), run: ({ name }) => `Hello ${name}` },
})
const app = createServer({ name: 'chain', version: '1' })
  .tool(
    'find',
    {
      input: z.object({ q: z.string(), limit: z.number().default(10) }),
      output: z.object({ total: z.number() }),
    },
    ({ q, limit }) => ({ total: q.length + limit }),
  )
  .use('tools/call', (_ctx, next) => next())
  .provide((ctx) => ({ tenant: ctx.auth?.sub ?? 'nobody' }))
  .tool('who', {}, (_input, ctx) => {
    expectTypeOf(ctx.tenant).toEqualTypeOf<string>()
    return ctx.tenant
  })
  .resource('a://b', {}, () => '')
  .prompt('p', {}, () => '')
  .tool(
    'mode',
    { input: { type: 'object', properties: { mode: { enum: ['fast', 'deep'] } }, required: ['mode'] } },
    ({ mode }) => text(mode),
  )
  .add(more)

// Names, arguments and results, from the type of the server alone.
const far = await connect<typeof app>('http://127.0.0.1:1/mcp')
expectTypeOf(await far.call('find', { q: 'x' })).toEqualTypeOf<{ total: number }>()
expectTypeOf(await far.call('find', { q: 'x', limit: 3 }, { timeout: '1s' })).toEqualTypeOf<{
  total: number
}>()
expectTypeOf(await far.call('who')).toEqualTypeOf<unknown>()
expectTypeOf(await far.call('who', {}, { timeout: 1 })).toEqualTypeOf<unknown>()
expectTypeOf(await far.call('mode', { mode: 'fast' })).toEqualTypeOf<unknown>()
expectTypeOf(await far.call('count')).toEqualTypeOf<number[]>()
expectTypeOf(await far.call('greet', { name: 'x' })).toEqualTypeOf<unknown>()
expectTypeOf((await far.callRaw('find', { q: 'x' })).isError).toEqualTypeOf<boolean | undefined>()
// @ts-expect-error there is no such tool
void far.call('fnid', { q: 'x' })
// @ts-expect-error a mode is one of two words
void far.call('mode', { mode: 'slow' })
// @ts-expect-error there is no such argument
void far.call('find', { q: 'x', limt: 1 })
// @ts-expect-error an argument is required
void far.call('find', {})
// @ts-expect-error an argument is required
void far.call('find')
// @ts-expect-error an argument is required, whatever the options
void far.call('find', undefined, { timeout: 1 })
// @ts-expect-error an argument is required
void far.callRaw('find')
// @ts-expect-error the tool takes none
void far.call('who', { name: 'x' })

// A server in this process brings its own types, also to tests; its type argument may be written all the same.
const near = await connect(app)
expectTypeOf(await near.call('find', { q: 'x' })).toEqualTypeOf<{ total: number }>()
// @ts-expect-error there is no such tool
void near.call('fnid')
expectTypeOf(await createClient(app).call('count')).toEqualTypeOf<number[]>()
const tested = await testClient(app, { revision: '2025-11-25' })
expectTypeOf(await tested.call('count')).toEqualTypeOf<number[]>()
// @ts-expect-error an argument is required
void tested.call('greet')
const both = await testClient<typeof app>(app)
expectTypeOf(await both.call('find', { q: 'x' })).toEqualTypeOf<{ total: number }>()
const kept: Client<typeof app> = near
expectTypeOf(await kept.call('count')).toEqualTypeOf<number[]>()
// @ts-expect-error this client knows other tools
const wrong: Client<{ readonly other: (typeof more)['count'] }> = near
void wrong
const any: Client = near
void any.call('anything', { a: 1 })
const part = await testClient<typeof more>(app)
expectTypeOf(await part.call('count')).toEqualTypeOf<number[]>()

// The first tools of a server are known too.
const first = createServer({ name: 'first', version: '1', tools: more }).tool('last', {}, () => 1)
const firstClient = await connect(first)
expectTypeOf(await firstClient.call('count')).toEqualTypeOf<number[]>()
void firstClient.call('last')
// @ts-expect-error there is no such tool
void firstClient.call('lats')

// Where nothing is chained, nothing is known, and every name is accepted.
const plain = createServer({ name: 'plain', version: '1' })
plain.tool('one', { input: z.object({ a: z.number() }) }, ({ a }) => a)
expectTypeOf(await (await connect(plain)).call('one', { a: 1 })).toEqualTypeOf<unknown>()
expectTypeOf(await (await testClient(plain)).call('one')).toEqualTypeOf<unknown>()
expectTypeOf(await (await testClient<typeof more>(plain)).call('count')).toEqualTypeOf<number[]>()
expectTypeOf(await (await connect<AnyTools>(app)).call('anything', { a: 1 })).toEqualTypeOf<unknown>()
expectTypeOf(await (await connect('http://127.0.0.1:1/mcp')).call('any')).toEqualTypeOf<unknown>()
declare const name: string
const dynamic = await connect(createServer({ name: 'dynamic', version: '1' }).tool(name, {}, () => 1))
void dynamic.call('any', { a: 1 })

// A server with tools is a server, for whoever does not care about them.
const some: App = createServer({ name: 'some', version: '1' }).tool('one', {}, () => 1)
const returned: ReturnType<typeof createServer> = createServer({ name: 'x', version: '1' }).tool(
  'one',
  {},
  () => 1,
)
expectTypeOf(await (await connect(some)).call('one')).toEqualTypeOf<unknown>()
expectTypeOf(await (await connect(returned)).call('one')).toEqualTypeOf<unknown>()

// Lists as arrays.
expectTypeOf(near.tools().toArray()).resolves.items.toHaveProperty('inputSchema')
expectTypeOf(near.resources().toArray()).resolves.items.toHaveProperty('uri')
expectTypeOf(near.templates().toArray()).resolves.items.toHaveProperty('uriTemplate')
expectTypeOf(near.prompts().toArray()).resolves.items.toHaveProperty('name')
const group = await connectAll({ app })
expectTypeOf(group.tools().toArray()).resolves.items.toHaveProperty('server')
for await (const { server, uri } of group.resources()) expectTypeOf(server + uri).toEqualTypeOf<string>()

// Forms in plain JSON Schema, inline and declared elsewhere.
const form = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] } as const
export async function ask(ctx: Context): Promise<void> {
  const elsewhere = await ctx.elicit('How much?', form)
  if (elsewhere.action === 'accept') expectTypeOf(elsewhere.content).toEqualTypeOf<{ amount: number }>()
  const inline = await ctx.elicit('Which?', {
    type: 'object',
    properties: { size: { enum: ['s', 'm'] }, gift: { type: 'boolean' } },
    required: ['size'],
  })
  if (inline.action === 'accept')
    expectTypeOf(inline.content).toEqualTypeOf<{ size: 's' | 'm'; gift?: boolean }>()
}

// The names of methods are those of the table; others are methods of extensions.
type Rows = typeof METHODS
type From<Side> = {
  [Name in keyof Rows]: Rows[Name] extends { kind: 'request'; from: Side } ? Name : never
}[keyof Rows]
expectTypeOf<ServerMethod>().toEqualTypeOf<From<'client' | 'both'>>()
expectTypeOf<ClientMethod>().toEqualTypeOf<From<'server'>>()
type FirstOf<Use> = Use extends { (method: infer Method, second: never): unknown; (addition: never): unknown }
  ? Method
  : never
expectTypeOf<FirstOf<App['use']>>().toEqualTypeOf<ServerMethod | (string & {})>()
expectTypeOf<FirstOf<Client['use']>>().toEqualTypeOf<ServerMethod | ClientMethod | (string & {})>()
expectTypeOf<Parameters<App['intercept']>[0]>().toEqualTypeOf<ServerMethod | (string & {})>()
app.use('dev.example/other', (_ctx, next) => next())

// Options that may have tools, of which nobody knows the names, do not hide the tools that are chained.
function withOptions(options: Partial<ServerOptions>) {
  return createServer({ name: 'open', version: '1', ...options }).tool(
    'find',
    { input: z.object({ q: z.string() }) },
    ({ q }) => q,
  )
}
const opened = await connect<ReturnType<typeof withOptions>>('http://127.0.0.1:1/mcp')
void opened.call('find', { q: 'x' })
// @ts-expect-error there is no such tool
void opened.call('fnid', { q: 'x' })
