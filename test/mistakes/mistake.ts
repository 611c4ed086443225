import { inspect } from 'node:util'
import { createServer, McpError, type App, type Context, type ServerOptions } from '../../src/index.ts'
import { connect, type Client } from '../../src/client.ts'
import type { ConnectOptions } from '../../src/app/connect/connect.ts'

/** A mistake that a newcomer makes, and what must be said about it. */
export interface Mistake {
  /** What the user wrote. */
  readonly wrote: string
  /** Makes the mistake. Whatever it throws, logs or returns as text is what the user gets to read. */
  make(scene: Scene): unknown
  /** Names the problem. */
  readonly problem: string | RegExp
  /** Tells what to write or do instead. */
  readonly fix: string | RegExp
}

/** The place where a mistake is made: its servers share one log, and everything is closed in the end. */
export interface Scene {
  readonly log: string[]
  /** A server whose log is recorded. */
  server(options?: Partial<ServerOptions>): App
  /** A client of a server in this process. */
  client<Ctx extends Context>(app: App<Ctx>, options?: ConnectOptions): Promise<Client>
  /** Calls a tool twice, because a warning is written once and not for every call; returns what the model reads. */
  call<Ctx extends Context>(app: App<Ctx>, input?: object, options?: ConnectOptions): Promise<string>
  /** A URL at which a server listens. */
  url(app: App, http?: object): Promise<string>
  after(end: () => unknown): void
}

/** Everything that the author of a mistake gets to read. */
export async function readingsOf(mistake: Mistake): Promise<readonly string[]> {
  const ends: (() => unknown)[] = []
  const scene = createScene(ends)
  try {
    const value: unknown = await mistake.make(scene)
    return [...scene.log, ...(typeof value === 'string' ? [value] : [])]
  } catch (thrown) {
    return [...scene.log, toText(thrown)]
  } finally {
    for (const end of ends.toReversed()) await end()
  }
}

function createScene(ends: (() => unknown)[]): Scene {
  const scene: Scene = {
    log: [],
    server(options) {
      const log: NonNullable<ServerOptions['log']> = (level, message, facts) =>
        void scene.log.push(`${level}: ${message}${errorIn(facts)}`)
      const app = createServer({ name: 'mistaken', version: '1', log, ...options })
      ends.push(() => app.close())
      return app
    },
    async client(app, options) {
      const client = await connect(app, options)
      ends.push(() => client.close())
      client.on('warning', (text) => void scene.log.push(`client warning: ${text}`))
      return client
    },
    async call(app, input = {}, options) {
      const client = await scene.client(app, options)
      const call = () => client.callRaw('a', input as never, { onProgress: () => undefined })
      await call()
      return JSON.stringify((await call()).content)
    },
    url: async (app, http) =>
      (await app.listen({ http: { port: 0, ...http }, onUncaught: 'exit' })).url as string,
    after: (end) => void ends.push(end),
  }
  return scene
}

/** An error as its author reads it. */
export function toText(thrown: unknown): string {
  if (!(thrown instanceof Error)) return inspect(thrown)
  return thrown instanceof McpError ? `${thrown.message} (${thrown.hint})` : thrown.message
}

/** The log gets an error as plain data. */
function errorIn(facts: Readonly<Record<string, unknown>> = {}): string {
  const { message } = (facts['error'] ?? {}) as { readonly message?: string }
  return message === undefined ? '' : `: ${message}`
}
