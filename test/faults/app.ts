import { createServer, type App } from 'pierhead'

export const STEPS = 4
export const NOTE = 'note://one'

const KEY = { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] } as const

/** A server that remembers what it ran, and how often. */
export interface CountingApp {
  readonly app: App
  /** How often a call with a key ran. */
  runs(key: string): number
  /** The keys of all calls that ran, in order. */
  readonly ran: readonly string[]
  /** Lets calls of `hold` end. */
  release(): void
  /** Resolves when so many calls of `hold` are running. */
  holding(calls: number): Promise<void>
}

/** Makes one; `onRun` hears the key of every call that runs. */
export function createCountingApp(onRun: (key: string) => void = () => undefined): CountingApp {
  const app = createServer({ name: 'counting', version: '1.0.0', log: () => undefined })
  const ran: string[] = []
  const held = new Set<() => void>()
  let arrived: () => void = () => undefined
  const run = (key: string): void => {
    ran.push(key)
    onRun(key)
  }

  app.tool('once', { input: KEY }, ({ key }) => {
    run(key)
    return `once ${key}`
  })
  app.tool('safe', { input: KEY, hints: { idempotent: true } }, ({ key }) => {
    run(key)
    return `safe ${key}`
  })
  app.tool('stream', { input: KEY }, ({ key }, { progress }) => {
    run(key)
    for (let step = 1; step <= STEPS; step++) progress(step, STEPS)
    return `stream ${key}`
  })
  app.tool('hold', { input: KEY }, async ({ key }, { signal, progress }) => {
    run(key)
    progress(1)
    await new Promise<void>((resolve) => {
      held.add(resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
      arrived()
    })
    return `hold ${key}`
  })
  app.tool('touch', {}, () => app.updated(NOTE))
  app.resource(NOTE, {}, () => 'one')
  app.resource('note://two', {}, () => 'two')
  app.resource('word://{word}', {}, ({ word }) => String(word))
  app.complete('word://{word}', 'word', (value) => [`${value}one`])
  app.prompt('greet', {}, () => 'hello')
  return {
    app,
    ran,
    runs: (key) => ran.filter((one) => one === key).length,
    release() {
      for (const go of held) go()
      held.clear()
    },
    async holding(calls) {
      while (held.size < calls) await new Promise<void>((resolve) => (arrived = resolve))
    },
  }
}
