/* A server in several processes, for tests. The environment says how it behaves; every process writes lines of JSON that its test reads. */
import cluster from 'node:cluster'
import { z } from 'zod'
import { createServer, type ServerOptions } from '../../src/index.ts'
import { redis } from '../../src/stores.ts'

/** How the server of a test behaves. */
export interface Behaviour {
  readonly workers?: number | 'auto'
  readonly port?: number
  readonly limits?: NonNullable<Exclude<ServerOptions['limits'], 'strict'>>
  /** Workers exit before they listen, with this code. */
  readonly exitsWith?: number
  /** A file that makes workers exit before they listen while it exists. */
  readonly brokenBy?: string
  /** The URL of a Redis that keeps sessions and the like, but no tasks. */
  readonly redis?: string
  /** Also serves TCP and WebSocket. */
  readonly more?: boolean
}

/** A line that a process writes. */
export type Line =
  | {
      readonly at: 'parent'
      readonly url: string | undefined
      readonly addresses: Readonly<Record<string, string>>
    }
  | { readonly at: 'worker'; readonly worker: number; readonly pid: number }
  | { readonly at: 'log'; readonly pid: number; readonly level: string; readonly message: string }
  | { readonly at: 'failed'; readonly kind: unknown; readonly message: string; readonly code: unknown }
  | { readonly at: 'restarted' }
  | { readonly at: 'started' | 'stopped'; readonly pid: number }

const {
  workers = 2,
  port = 0,
  limits,
  exitsWith,
  brokenBy,
  more,
  ...rest
} = JSON.parse(process.env['BEHAVIOUR'] ?? '{}') as Behaviour
const { existsSync } = await import('node:fs')
if (cluster.isWorker && exitsWith !== undefined) process.exit(exitsWith)
if (cluster.isWorker && brokenBy !== undefined && existsSync(brokenBy)) process.exit(3)

const say = (line: Line): void => void process.stdout.write(`${JSON.stringify(line)}\n`)
const app = createServer({
  name: 'many',
  version: '1.0.0',
  log: (level, message) => say({ at: 'log', pid: process.pid, level, message }),
  onStart: () => say({ at: 'started', pid: process.pid }),
  onStop: () => say({ at: 'stopped', pid: process.pid }),
  ...(limits && { limits }),
  // Tasks stay in the parent.
  ...(rest.redis !== undefined && { store: { ...redis(rest.redis), tasks: undefined } }),
})
  .tool('who', {}, () => String(process.pid))
  .tool('slow', { input: z.object({ ms: z.number() }) }, async ({ ms }, { progress }) => {
    progress(1, undefined, `by ${process.pid}`)
    await new Promise((resolve) => setTimeout(resolve, ms))
    return String(process.pid)
  })
  .tool('ask', {}, async (_, { elicit }) => {
    const { content } = await elicit('Name?', z.object({ name: z.string() }))
    return `Hello, ${content?.name}!`
  })
  .tool('keep', {}, async (_, { session }) => {
    const last = (await session?.get<number>('count')) ?? 0
    await session?.set('count', last + 1)
    return String(last + 1)
  })
  .tool('touch', {}, () => {
    app.updated('note://a')
    return 'touched'
  })
  .tool('crash', {}, () => {
    setImmediate(() => process.kill(process.pid, 'SIGKILL'))
    return 'crashing'
  })
  .tool(
    'work',
    { task: { mode: 'required', onRestart: 'retry' }, input: z.object({ ms: z.number() }) },
    async ({ ms }) => {
      await new Promise((resolve) => setTimeout(resolve, ms))
      return `done by ${process.pid}`
    },
  )
  .resource('note://a', {}, () => 'a')

try {
  const running = await app.listen({
    http: { port },
    ...(more === true && { ws: true, tcp: { port: 0 } }),
    workers,
  })
  const { url, addresses, worker } = running
  if (worker !== undefined) say({ at: 'worker', worker, pid: process.pid })
  else {
    say({ at: 'parent', url, addresses })
    process.stdin.on('data', (bytes) => {
      for (const command of String(bytes).trim().split('\n')) void obey(command)
    })
  }

  async function obey(command: string): Promise<void> {
    try {
      if (command === 'garble') garble()
      if (command === 'updated') app.updated('note://a')
      if (command === 'close') {
        await app.close()
        process.stdin.destroy()
      }
      if (command === 'restart') {
        await running.restart()
        say({ at: 'restarted' })
      }
    } catch (error) {
      fail(error)
    }
  }
} catch (error) {
  fail(error)
  // A store keeps its connection open.
  process.stdout.write('', () => process.exit(7))
}

/** Damages the next message to the first worker. */
function garble(): void {
  const child = Object.values(cluster.workers ?? {})[0]?.process as object
  const name = Object.getOwnPropertySymbols(child).find(({ description }) => description === 'kChannelHandle')
  type Write = (request: unknown, bytes: Uint8Array, ...more: readonly unknown[]) => number
  const pipe = (child as { readonly [name: symbol]: { writeBuffer: Write } })[name as symbol] as {
    writeBuffer: Write
  }
  const write = pipe.writeBuffer
  pipe.writeBuffer = (request, bytes, ...more) => {
    pipe.writeBuffer = write
    // After its length and its version.
    bytes.fill(0xee, 6)
    return write.call(pipe, request, bytes, ...more)
  }
}

function fail(error: unknown): void {
  const { kind, message, cause } = error as Error & {
    readonly kind?: unknown
    readonly cause?: { code?: unknown }
  }
  say({ at: 'failed', kind, message, code: cause?.code })
}
