import { createServer, type App } from 'pierhead'

const TEXT = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
const SHIP = { type: 'object', properties: { ship: { type: 'string' } }, required: ['ship'] } as const

/** How many handlers were cancelled. */
let stopped = 0
let grown = 0

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

// The server that the tests start under other runtimes. Everything here runs at global scope.
const app: App = createServer({
  name: 'runtime',
  version: '1.0.0',
  limits: { keepAliveMs: 300, queued: 4, allInFlight: 3, questionMs: 2000 },
})
app
  .tool('echo', { input: TEXT }, ({ text }) => text)
  .tool('later', { input: TEXT }, async ({ text }) => {
    await pause(20)
    return text
  })
  .tool('steps', {}, async (_, { progress }) => {
    for (let step = 1; step <= 3; step++) {
      progress(step, 3)
      await pause(20)
    }
    return 'done'
  })
  .tool('book', {}, async (_, ctx) => {
    const answer = await ctx.elicit('Which ship?', SHIP)
    return answer.action === 'accept' ? `booked for ${answer.content.ship}` : answer.action
  })
  .tool('ponder', {}, async (_, ctx) => {
    const { action } = await ctx.elicit('Which ship?', SHIP)
    await pause(2500)
    return action
  })
  .tool('touch', {}, () => {
    app.updated('memo://one')
    return 'touched'
  })
  .tool('grow', {}, () => {
    app.tool(`grown-${++grown}`, {}, () => 'grown')
    return 'grown'
  })
  .tool('hold', {}, async (_, { signal, progress }) => {
    progress(1, 2)
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    stopped++
    return 'stopped'
  })
  .tool('crawl', {}, async (_, { progress }) => {
    for (let step = 1; step <= 5; step++) {
      progress(step, 5)
      await pause(200)
    }
    return 'there'
  })
  .tool('stopped', {}, () => String(stopped))
  .tool('listen', {}, () => app.listen({ http: { port: 0 } }).then(String, String))
  .tool('node', {}, () => {
    try {
      return String(app.node())
    } catch (error) {
      return String(error)
    }
  })
  .resource('memo://one', {}, () => 'a memo')

export default app
