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
    export const chain = createServer({ name: 'b', version: '1' })
      .tool('sum', { input: sum, output: { type: 'number' } }, ({ a, b }) => a + b)
      .add(tools)
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

/** Code of a user with \`exactOptionalPropertyTypes\` who has values that may be undefined, for options of every kind. */
export const MAYBE: string = `
  import { audio, createServer, defineTools, embed, image, link, text, McpError, type Context, type ServerOptions } from 'pierhead'
  import { connect, connectAll, createClient } from 'pierhead/client'
  import { testClient } from 'pierhead/testing'
  import { connectGist } from 'pierhead/gist'
  import { defineExtension, health } from 'pierhead/extensions'
  import { official } from 'pierhead/profiles'

  declare const maybe: string | undefined
  declare const flag: boolean | undefined
  declare const count: number | undefined
  declare const nothing: undefined
  const options: ServerOptions = {
    name: maybe, version: '1', title: maybe, description: maybe, instructions: maybe, secret: maybe, pageSize: count, ttl: count,
    limits: { inFlight: count }, tools: nothing, icons: [{ src: 'x', mimeType: maybe }], profile: nothing, log: nothing,
  }
  export const app = createServer(options)
    .tool('a', { description: maybe, title: maybe, input: { type: 'object', description: maybe }, hints: { readOnly: flag }, timeout: count, visible: nothing, scopes: nothing, _meta: nothing }, () =>
      text('x', { annotations: { priority: count, lastModified: maybe }, _meta: nothing }))
    .tool('b', { output: nothing, input: nothing }, () => [
      image('', 'image/png', { annotations: nothing }),
      audio('', 'audio/wav', { _meta: nothing }),
      link('a://b', { name: 'b', title: maybe, description: maybe, mimeType: maybe, size: count }),
      embed('a://b', '', maybe, { annotations: nothing }),
    ])
    .tool('c', {}, async (_input, ctx: Context) => {
      await ctx.sample({ messages: [], maxTokens: count, systemPrompt: maybe, temperature: count }, { key: maybe })
      await ctx.elicit('x', { type: 'object', title: maybe }, { key: maybe })
      throw new McpError('internal', 'x', { data: nothing, retryAfterMs: count, retryable: flag })
    })
    .resource('a://b', { description: maybe, name: maybe, mimeType: maybe, size: count, annotations: { priority: count } }, () => '')
    .prompt('p', { description: maybe, args: nothing }, () => '')
    .use({ middleware: nothing, observer: nothing, endpoints: nothing, visible: nothing })
    .add(defineTools({ d: { description: maybe, hints: { idempotent: flag }, visible: nothing, run: () => 1 } }))
  app.prompt('q', {}, () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'x', annotations: nothing } }], description: maybe }))
  app.complete('q', 'x', () => ({ values: [], total: count, hasMore: flag }))
  void app.listen({
    http: { port: count, host: maybe, path: maybe, hosts: nothing, cors: nothing, sessions: flag, sse: flag, gist: { cycle: nothing }, tls: nothing },
    ws: { port: count, path: maybe }, tcp: { port: 0, host: maybe, tls: { key: '', cert: '', ca: maybe, pin: maybe }, framing: nothing },
    unix: { path: 'x', mode: count, scopes: nothing }, stdio: { scopes: nothing }, onUncaught: nothing,
  })
  app.node({ cors: nothing, hosts: nothing, sessions: flag })
  void app.fetchWith({ sse: flag })(new Request('http://x'), { auth: { sub: maybe, scopes: nothing }, body: nothing })
  export const client = await connect(app, {
    client: { name: 'x', version: '1', title: maybe }, revision: nothing, profile: nothing, answers: { elicit: nothing, roots: nothing },
    timeout: count, total: count, headers: nothing, fetch: nothing, limits: { depth: count }, recovery: { tries: count, timeouts: flag },
    auth: nothing, checkInput: flag, inherit: nothing, tls: { ca: maybe, servername: maybe }, heartbeat: count, connections: count, extensions: nothing,
  })
  void client.call('a', {}, { timeout: count, total: count, signal: nothing, headers: nothing, auth: nothing, onProgress: nothing, idempotent: flag, meta: nothing })
  client.use({ clientMiddleware: nothing })
  client.use((request, next) => next({ params: nothing, options: { ...request.options, timeout: count } }))
  client.watch({ tools: flag, resources: flag, signal: nothing })
  createClient({ command: 'x', args: nothing, env: nothing, cwd: maybe })
  createClient({ url: 'http://x', type: maybe, headers: nothing })
  void connectAll({ mcpServers: nothing, servers: {} }, { separator: maybe, timeout: count })
  void testClient(app, { revision: nothing, auth: { sub: maybe }, answers: { elicit: nothing, sampleTools: flag }, timeout: count })
  void connectGist('http://x', { headers: nothing, fetch: nothing, limits: { depth: count } })
  health({ checks: nothing })
  defineExtension({ id: 'com.example/x', about: maybe, methods: { a: { params: nothing, idempotent: flag } }, notices: nothing })
  official.with({ batch: nothing })
`
