import { audio, embed, image, link, text, ToolError, type App } from 'pierhead'
import { PNG } from './app-facts.ts'

const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const
const EXTRA_URI = 'note://extra'

/** Tools that answer by themselves, and tools by which a client makes the server do something. */
export function addTools(app: App, world: World): void {
  world.apps.push(app)
  addPlainTools(app)
  addRunningTools(app, world)
  addChangingTools(app, world)
}

function addPlainTools(app: App): void {
  app.tool(
    'echo',
    {
      title: 'Echo',
      description: 'Says it again',
      input: {
        type: 'object',
        properties: { text: { type: 'string', description: 'What to say' } },
        required: ['text'],
      },
      hints: { readOnly: true, openWorld: false },
      icons: [{ src: 'https://example.com/echo.png' }],
      _meta: { 'example.com/kind': 'plain' },
    },
    (input) => input.text,
  )
  app.tool(
    'add',
    {
      input: {
        type: 'object',
        properties: { a: { type: 'number', maximum: 1000 }, b: { type: 'number' } },
        required: ['a', 'b'],
      },
      output: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
    },
    ({ a, b }) => ({ sum: a + b }),
  )
  app.tool('primes', { output: { type: 'array', items: { type: 'number' } } }, () => [2, 3, 5])
  app.tool('fail', {}, () => {
    throw new ToolError('The disk is full; delete something and call again.')
  })
  app.tool('crash', {}, () => {
    throw new Error('the password is hunter2')
  })
  app.tool('gallery', {}, () => [
    text('All kinds', { annotations: { audience: ['user'], priority: 1 } }),
    image(PNG, 'image/png'),
    audio(PNG, 'audio/wav'),
    link('note://hello', {
      name: 'hello',
      title: 'Hello',
      description: 'A greeting',
      mimeType: 'text/plain',
    }),
    embed('note://hello', 'Hello', 'text/plain'),
    embed('note://logo', PNG, 'image/png'),
  ])
  app.tool(
    'locate',
    {
      input: {
        type: 'object',
        properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
        required: ['region'],
      },
    },
    ({ region }, { header }) => ({ said: region, header: header('Mcp-Param-Region') }),
  )
  app.tool('large', {}, () => 'ü'.repeat(1_000_000))
}

function addRunningTools(app: App, { ends, meetings }: World): void {
  app.tool(
    'count',
    {
      description: 'Counts, and answers once it is let go',
      input: {
        type: 'object',
        properties: { name: { type: 'string' }, to: { type: 'integer' } },
        required: ['name', 'to'],
      },
    },
    async (input, { progress }) => {
      for (let step = 1; step <= input.to; step++) progress(step, input.to, `step ${step}`)
      progress(1)
      return ends.of(input.name).promise
    },
  )
  app.tool('wait', { input: NAME }, async ({ name }, ctx) => {
    ctx.progress(1)
    ends.of(`start of ${name}`).resolve('started')
    await new Promise<void>((resolve) =>
      ctx.signal.addEventListener('abort', () => resolve(), { once: true }),
    )
    ctx.progress(2)
    ctx.log.emergency('after the cancellation')
    ends.of(`end of ${name}`).resolve((ctx.signal.reason as Error).message)
    return 'too late'
  })
  app.tool('await', { input: NAME }, ({ name }) => ends.of(name).promise)
  app.tool(
    'meet',
    {
      description: 'Answers once as many callers have come, the last first',
      input: {
        type: 'object',
        properties: { place: { type: 'string' }, people: { type: 'integer' }, me: { type: 'string' } },
        required: ['place', 'people', 'me'],
      },
    },
    async ({ place, people, me }) => {
      const here = meetings.get(place) ?? []
      meetings.set(place, here)
      const met = new Promise<void>((resolve) => here.push(resolve))
      if (here.length === people) for (const go of here.reverse()) go()
      await met
      return me
    },
  )
  app.tool('speak', {}, (_, { log }) => {
    log.debug('one')
    log.info('two', { at: 2 })
    log.notice('three')
    log.warning('four')
    log.error('five')
    log.critical('six')
    log.alert('seven')
    log.write('emergency', ['eight'], 'siren')
    return 'spoken'
  })
  app.tool('hang-up', { input: NAME }, async ({ name }, ctx) => {
    ctx.progress(1)
    ctx.closeStream(10)
    ctx.progress(2)
    const message = await ends.of(name).promise
    ctx.progress(3)
    return message
  })
  app.tool('let-go', { input: NAME }, ({ name }) => {
    ends.of(name).resolve(`let go of ${name}`)
    return 'done'
  })
}

function addChangingTools(app: App, { apps }: World): void {
  app.tool(
    'touch',
    { input: { type: 'object', properties: { uri: { type: 'string' } }, required: ['uri'] } },
    ({ uri }) => {
      app.updated(uri)
      return 'touched'
    },
  )
  app.tool('grow', {}, () => {
    for (const one of apps) {
      one.tool('extra', {}, () => 'extra')
      one.resource(EXTRA_URI, {}, () => 'extra')
      one.prompt('extra', {}, () => 'extra')
    }
    return 'grown'
  })
  app.tool('shrink', {}, () => {
    for (const one of apps) {
      one.remove('tool', 'extra')
      one.remove('resource', EXTRA_URI)
      one.remove('prompt', 'extra')
    }
    return 'shrunk'
  })
}

interface End {
  readonly promise: Promise<string>
  resolve(value: string): void
}

/** Moments that calls wait for and other calls bring about, by name. */
class Ends {
  readonly #made = new Map<string, End>()

  of(name: string): End {
    let end = this.#made.get(name)
    if (end === undefined) this.#made.set(name, (end = withResolve()))
    return end
  }
}

/** What the tools of all servers act on together, if several serve the same clients. */
export class World {
  made = 0
  readonly apps: App[] = []
  readonly ends: Ends = new Ends()
  readonly meetings: Map<string, (() => void)[]> = new Map()
}

function withResolve(): End {
  let resolve: (value: string) => void = () => undefined
  const promise = new Promise<string>((settle) => (resolve = settle))
  return { promise, resolve }
}
