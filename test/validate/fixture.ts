import { createServer, image, ToolError, type App, type ServerOptions } from '../../src/index.ts'

const NAME_FORM = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const
const NO_INPUT = { type: 'object', properties: {}, additionalProperties: false } as const

/** A correct server that uses everything that rules look at, and answers at once. */
export function createFixture(options: Pick<ServerOptions, 'auth'> = {}): App {
  const app = createServer({ name: 'validated', version: '1.0.0', pageSize: 6, ...options })
  app.tool(
    'echo',
    {
      description: 'Returns the text that it gets',
      input: {
        type: 'object',
        properties: { text: { type: 'string', description: 'Any text' } },
        required: ['text'],
      },
      hints: { readOnly: true },
    },
    ({ text }) => String(text),
  )
  app.tool(
    'count',
    {
      description: 'Counts to three, and returns how far it came',
      input: NO_INPUT,
      output: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
    },
    (_input, ctx) => {
      for (const step of [1, 2, 3]) ctx.progress(step, 3, `step ${step}`)
      ctx.log.info('counted to three')
      return { count: 3 }
    },
  )
  app.tool('fail', { description: 'Always fails, to show how errors look', input: NO_INPUT }, () => {
    throw new ToolError('this tool always fails')
  })
  app.tool('picture', { description: 'Returns a very small picture', input: NO_INPUT }, () =>
    image('iVBORw0KGgo=', 'image/png'),
  )
  app.tool('ask', { description: 'Asks the user for a name', input: NO_INPUT }, async (_input, ctx) => {
    ctx.progress(1, 2)
    const answer = await ctx.elicit('What is your name?', NAME_FORM)
    ctx.progress(2, 2)
    return answer.action === 'accept' ? `Hello, ${answer.content.name}` : 'Hello, stranger'
  })
  app.tool(
    'sample',
    { description: 'Asks the model of the client for a word', input: NO_INPUT },
    async (_input, ctx) => {
      const { model } = await ctx.sample({
        messages: [{ role: 'user', content: 'One word, please' }],
        maxTokens: 10,
      })
      return `answered by ${model}`
    },
  )
  app.tool(
    'folders',
    { description: 'Lists the folders of the client', input: NO_INPUT },
    async (_input, ctx) => (await ctx.roots()).map(({ uri }) => uri).join(', '),
  )
  app.tool(
    'work',
    {
      description: 'Takes a moment, as a task if the client asks for one',
      input: NO_INPUT,
      task: { mode: 'optional', after: 50 },
    },
    async (_input, ctx) => {
      ctx.progress(1, 2)
      await new Promise((resolve) => setTimeout(resolve, 200))
      return 'done'
    },
  )
  app.tool(
    'interview',
    {
      description: 'Asks two questions, always as a task',
      input: NO_INPUT,
      task: { mode: 'required', poll: 50 },
    },
    async (_input, ctx) => {
      ctx.progress(1, 2)
      const first = await ctx.elicit('What is your name?', NAME_FORM)
      ctx.progress(2, 2)
      const second = await ctx.elicit('What is the name of your ship?', NAME_FORM)
      return `${first.action}, ${second.action}`
    },
  )
  app.tool(
    'sink',
    {
      description: 'Takes a moment and fails, as a task if the client asks for one',
      input: NO_INPUT,
      task: { mode: 'optional', after: 20, poll: 50 },
    },
    async () => {
      await new Promise((resolve) => setTimeout(resolve, 120))
      throw new ToolError('the ship has sunk')
    },
  )
  app.tool(
    'weather',
    {
      description: 'Tells the weather in a city',
      input: {
        type: 'object',
        properties: { city: { type: 'string', description: 'The city', 'x-mcp-header': 'City' } },
        required: ['city'],
      },
    },
    ({ city }) => `It rains in ${String(city)}.`,
  )
  app.resource('test://text', { name: 'text', description: 'A text', mimeType: 'text/plain' }, () => 'a text')
  app.resource('test://bytes', { name: 'bytes', description: 'Some bytes', mimeType: 'image/png' }, () => ({
    blob: 'iVBORw0KGgo=',
  }))
  app.resource(
    'test://item/{id}',
    { name: 'item', description: 'An item by its id' },
    ({ id }) => `item ${id}`,
  )
  app.prompt('plain', { description: 'A prompt without arguments' }, () => 'Say hello.')
  app.prompt(
    'about',
    {
      description: 'A prompt about something',
      args: { type: 'object', properties: { topic: { type: 'string' } }, required: ['topic'] },
    },
    ({ topic }) => `Write about ${topic}.`,
  )
  app.complete('about', 'topic', (value) => ['ships', 'shores'].filter((word) => word.startsWith(value)))
  return app
}
