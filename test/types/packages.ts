/** Modules as packages over ours have them, by the entry point that each is about. The compiler writes down the types of what they export. */
export const PACKAGES: Readonly<Record<string, string>> = {
  pierhead: `
    import { createServer, defineTools, image, type Context, type JsonObject, type Middleware } from 'pierhead'

    const sum = {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
    } as const
    export const tools = defineTools({
      add: { input: sum, output: { type: 'number' }, hints: { readOnly: true }, run: ({ a, b }) => a + b },
      who: { timeout: '5s', run: (_input, ctx: Context) => ctx.auth?.sub ?? 'nobody' },
      look: { run: async () => ({ content: [image(new Uint8Array(3), 'image/png')] }) },
    })
    export const audit: Middleware = async ({ method, params }, next) => {
      const result = await next()
      return { ...result, _meta: { method, name: params['name'] } }
    }
    export const tenant = (ctx: Context) => ({ tenant: ctx.auth?.sub ?? 'nobody', limits: { calls: 3 } })
    export const app = createServer({ name: 'a', version: '1', tools }).provide(tenant).use('tools/call', audit)
    export const typed = app.tool('typed', { input: sum }, ({ a }, ctx) => ctx.tenant + a)
    export const node = app.node({ cors: [] })
    export const web = app.fetchWith({})
    export const { counts, limits } = app
    export const listen = () => app.listen({ tcp: { port: 0 } })
    export const inside = (receive: (text: string) => void) => app.connect({ receive })
    export const ask = async (ctx: Context) => ({
      form: await ctx.elicit('How many?', sum),
      url: await ctx.elicitUrl('Pay', 'https://example.com'),
      said: await ctx.sample({ messages: [{ role: 'user', content: 'x' }] }),
      roots: await ctx.roots(),
      log: ctx.log,
      progress: ctx.progress,
      client: ctx.client,
      id: ctx.id,
    })
    export const facts = (given: JsonObject) => ({ ...given, more: true })
  `,
  client: `
    import { connect, connectAll, createClient, refusalOf, type Client, type ClientMiddleware, type McpError } from 'pierhead/client'

    interface Tools {
      readonly add: { readonly input: { readonly type: 'object' }; readonly output: { readonly type: 'number' } }
    }
    export const trace: ClientMiddleware = (request, next) =>
      next({ options: { ...request.options, meta: { trace: request.method } } })
    export const open = () => connect('http://localhost:3000/mcp')
    export const typed = () => createClient<Tools>('http://localhost:3000/mcp').use(trace)
    export const all = () => connectAll({ a: 'http://localhost:3000/mcp' })
    export const about = async (client: Client) => ({
      tools: client.tools(),
      resources: client.resources(),
      templates: client.templates(),
      prompts: client.prompts(),
      raw: await client.callRaw('add', {}),
      read: await client.read('a://b'),
      prompt: await client.prompt('p'),
      server: await client.server(),
      state: client.state,
      changes: client.watch({ tools: true }),
    })
    export const why = (error: McpError) => refusalOf(error)
  `,
  extensions: `
    import { Apps, defineExtension, health, subscriptions, toolCompletion, toolStream } from 'pierhead/extensions'

    export const tides = defineExtension({
      id: 'com.example/tides',
      methods: {
        next: {
          params: { type: 'object', properties: { harbour: { type: 'string' } }, required: ['harbour'] },
          result: { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] },
        },
      },
      notices: ['turned'],
      serve: (_options: undefined, host) => ({
        next: ({ harbour }, ctx) => {
          host.notify('turned', { harbour, method: ctx.method })
          return { at: 'noon' }
        },
      }),
    })
    export const registry = new Apps([{ name: 'a' }])
    export const shown = registry.list()
    export const all = [health, subscriptions, toolCompletion, toolStream] as const
    export const checked = health({ checks: { db: () => true } })
  `,
  profiles: `
    import { erlmcp, official } from 'pierhead/profiles'

    export const strict = official.with({ batch: 'always' })
    export const { choices } = erlmcp
  `,
  testing: `
    import { testClient, type Recorded, type TestOptions } from 'pierhead/testing'

    export const open = (app: Parameters<typeof testClient>[0], options: TestOptions) => testClient(app, options)
    export const events = async (app: Parameters<typeof testClient>[0]) => (await testClient(app)).events
    export const isLog = (event: Recorded) => event.kind === 'log'
  `,
  gist: `
    import { connectGist } from 'pierhead/gist'

    export const open = () => connectGist('http://localhost:3000/gist', { headers: { a: 'b' } })
    export const call = async () => (await open()).call('add', { a: 1 })
    export const list = async () => (await open()).tools()
  `,
}
