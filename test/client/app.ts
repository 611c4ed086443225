import { audio, createServer, embed, image, link, text, ToolError, type App } from 'pierhead'
import { z } from 'zod'

export const NOTE = 'note://one'
export const FORM = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    size: { type: 'string', enum: ['s', 'l'], default: 'l' },
    copies: { type: 'integer', default: 2 },
  },
  required: ['name'],
} as const

/** A server with something of everything that a client can use, and tools that make things happen. */
export function createEverything(): App {
  const app = createServer({
    name: 'everything',
    version: '3.2.1',
    instructions: 'Call echo first.',
    pageSize: 4,
    ttl: '1m',
    log: () => undefined,
  })
  addAnswers(app)
  addQuestions(app)
  addRunning(app)
  addLists(app)
  return app
}

function addAnswers(app: App): void {
  const TEXT = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
  app.tool('echo', { input: TEXT, hints: { readOnly: true } }, (input) => input.text)
  const NUMBERS = z.object({ a: z.number(), b: z.number() })
  const adding = { input: NUMBERS, output: z.object({ sum: z.number() }), hints: { idempotent: true } }
  app.tool('add', adding, ({ a, b }) => ({ sum: a + b }))
  app.tool('fail', {}, () => {
    throw new ToolError('The disk is full', { free: 0 })
  })
  app.tool('crash', {}, () => {
    throw new Error('a secret')
  })
  app.tool('gallery', {}, () => [
    text('all kinds'),
    image('aW1n', 'image/png'),
    audio('c25k', 'audio/wav'),
    link(NOTE, { name: 'one' }),
    embed(NOTE, 'one'),
  ])
  app.tool('header', { input: { type: 'object', properties: { name: { type: 'string' } } } }, (input, ctx) =>
    String(ctx.header(String(input.name)) ?? 'none'),
  )
  const region = { type: 'string', 'x-mcp-header': 'Region' } as const
  app.tool('placed', { input: { type: 'object', properties: { region } } }, (input, ctx) =>
    String(ctx.header('mcp-param-region') ?? `body ${String(input.region)}`),
  )
}

function addQuestions(app: App): void {
  app.tool('form', {}, async (_, { elicit }) => JSON.stringify(await elicit('Who?', FORM)))
  app.tool('two', {}, async (_, { elicit }) => {
    const ask = z.object({ name: z.string() })
    const first = await elicit('First?', ask)
    const second = await elicit(`After ${first.content?.name}?`, ask)
    return `${first.content?.name} ${second.content?.name}`
  })
  app.tool('visit', {}, async (_, { elicitUrl }) => {
    const { action, complete } = await elicitUrl('Pay here', 'https://pay.example/start?order=7#now')
    if (action === 'accept') complete()
    return action
  })
  app.tool('model', {}, async (_, { sample }) => {
    const messages = [{ role: 'user', content: text('A joke, please') }] as const
    return JSON.stringify(await sample({ messages, maxTokens: 50 }))
  })
  app.tool('model-tools', {}, async (_, { sample }) => {
    const tools = [{ name: 'dice', inputSchema: { type: 'object' } }]
    const messages = [{ role: 'user', content: text('Roll') }] as const
    return JSON.stringify(await sample({ messages, tools, maxTokens: 50 }))
  })
  app.tool('folders', {}, async (_, { roots }) => JSON.stringify(await roots()))
  app.tool('declared', {}, (_, { client }) => JSON.stringify(client.capabilities))
  app.prompt('ask', {}, async (_, { elicit }) => {
    const { content } = await elicit('Who?', z.object({ name: z.string() }))
    return `Hello ${content?.name}`
  })
}

function addRunning(app: App): void {
  const ended = new Map<string, string>()
  const arrived = new Set<() => void>()
  const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const
  app.tool('count', {}, (_, { progress }) => {
    for (let step = 1; step <= 3; step++) progress(step, 3, `step ${step}`)
    return 'counted'
  })
  app.tool('wait', { input: NAME }, async ({ name }, { signal, progress }) => {
    progress(1)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    ended.set(name, 'cancelled')
    for (const wake of arrived) wake()
    return ''
  })
  app.tool('ended', { input: NAME }, async ({ name }) => {
    while (!ended.has(name)) await new Promise<void>((resolve) => arrived.add(resolve))
    return String(ended.get(name))
  })
  app.tool(
    'tick',
    { input: { type: 'object', properties: { ms: { type: 'number' } } } },
    async (input, ctx) => {
      for (let step = 1; step <= 5; step++) {
        await new Promise((resolve) => setTimeout(resolve, Number(input.ms)))
        ctx.progress(step)
      }
      return 'ticked'
    },
  )
  app.tool('speak', {}, (_, { log }) => {
    log.debug('quiet')
    log.error('loud')
    return 'spoken'
  })
}

function addLists(app: App): void {
  let grown = 0
  const times = new Map<string, number>()
  const counted = (name: string): number => {
    times.set(name, (times.get(name) ?? 0) + 1)
    return times.get(name) as number
  }
  app.resource(NOTE, { mimeType: 'text/plain' }, () => `read ${counted('note')}`)
  app.resource('bytes://logo', { mimeType: 'image/png' }, () => new Uint8Array([1, 2, 3]))
  app.resource('city://{name}', {}, ({ name }) => `city ${name}`)
  app.complete('city://{name}', 'name', (value) =>
    ['Paris', 'Parma', 'Rome'].filter((one) => one.startsWith(value)),
  )
  app.prompt(
    'greet',
    { args: z.object({ name: z.string(), mood: z.string().optional() }) },
    ({ name }) => `Greet ${name}`,
  )
  app.complete('greet', 'mood', (value, known) => [`${value}ly for ${String(known['name'] ?? 'nobody')}`])
  app.tool('touch', {}, () => {
    app.updated(NOTE)
    return 'touched'
  })
  app.tool('grow', {}, () => {
    app.tool(`grown-${++grown}`, {}, () => 'late')
    app.prompt(`grown-${grown}`, {}, () => 'late')
    app.resource(`grown://${grown}`, {}, () => 'late')
    return String(grown)
  })
}
