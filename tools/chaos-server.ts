// A process of the chaos test: a node that serves clients at a port, or a worker. Its settings are the JSON of its first argument.
import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { apiKeys } from '../src/auth.ts'
import { createServer, type ServerStore } from '../src/index.ts'
import type { JsonObject } from '../src/protocol/jsonrpc.ts'
import { postgres, redis } from '../src/stores.ts'

/** What a process of the chaos test needs to know. */
export interface ServerSettings {
  /** The name of the process, such as `worker 1`. */
  readonly name: string
  /** The port of a node; a worker has none. */
  readonly port?: number
  readonly redis: string
  readonly postgres: string
  /** The callers, by the digest of their key. */
  readonly digests: Readonly<Record<string, { readonly sub: string }>>
  readonly leaseMs: number
  /** The file for warnings and errors. */
  readonly log: string
  readonly taskStore: 'postgres' | 'redis'
}

/** What a process tells the tool, besides that it is ready: that it stood still for so many milliseconds. */
export interface ServerNews {
  readonly stood: number
}

/** How often a process looks at the time, and how late that must be to count. */
const LOOK_MS = 100
const LATE_MS = 1000

const settings = JSON.parse(process.argv[2] ?? '{}') as ServerSettings

interface Work {
  readonly task: number
  readonly ms: number
  /** Where effects are reported: an external system, as far as the server is concerned. */
  readonly ledger: string
}

const inputOf = <const Properties extends JsonObject>(properties: Properties) =>
  ({ type: 'object', properties, required: Object.keys(properties) }) as const
const work = inputOf({ task: { type: 'number' }, ms: { type: 'number' }, ledger: { type: 'string' } })
const answer = inputOf({ marker: { type: 'string' } })

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))

/** Has an effect and works for a while. Every run has another result, so that two outcomes of one task never look the same. */
async function act(tool: string, { task, ms, ledger }: Work): Promise<string> {
  const run = randomUUID()
  const response = await fetch(ledger, {
    method: 'POST',
    body: JSON.stringify({ task, tool, run, by: settings.name }),
  })
  await response.text()
  await pause(ms)
  return `${task}:${run}`
}

const shared: ServerStore = redis({ url: settings.redis, lease: settings.leaseMs })
const store =
  settings.taskStore === 'redis'
    ? shared
    : {
        ...shared,
        tasks: postgres({ connectionString: settings.postgres, lease: settings.leaseMs }).tasks,
      }

/** Tells the tool when this process stood still. The clock that counts cannot be shifted. */
function watchTime(): void {
  let last = performance.now()
  setInterval(() => {
    const now = performance.now()
    if (now - last > LATE_MS) process.send?.({ stood: now - last } satisfies ServerNews)
    last = now
  }, LOOK_MS)
}

const app = createServer({
  name: 'chaos',
  version: '1.0.0',
  store,
  auth: apiKeys({ digests: settings.digests }),
  log: (level, message, facts) => {
    const entry = { at: Date.now(), pid: process.pid, level, message, facts }
    appendFileSync(settings.log, `${JSON.stringify(entry)}\n`)
  },
  // A node counts as dead after three of these.
  // A busy machine may take long to restart Redis, while clients cannot resume.
  limits: { keepAliveMs: settings.leaseMs / 3, resumeMs: 120_000 },
})
  .tool('sturdy', { input: work, task: { mode: 'required', onRestart: 'retry' } }, (given: Work) =>
    act('sturdy', given),
  )
  .tool('fragile', { input: work, task: { mode: 'required', onRestart: 'fail' } }, (given: Work) =>
    act('fragile', given),
  )
  .tool(
    'keyed',
    { input: work, task: { mode: 'required', onRestart: 'retry', key: ({ task }: Work) => String(task) } },
    (given: Work) => act('keyed', given),
  )
  .tool(
    'flaky',
    { input: work, task: { mode: 'required', onRestart: 'retry', retries: 5 } },
    async (given: Work, { attempt }) => {
      const done = await act('flaky', given)
      if (attempt === 1) throw new Error('the first attempt fails')
      return done
    },
  )
  .tool(
    'count',
    {
      input: inputOf({ marker: { type: 'string' }, steps: { type: 'number' }, ms: { type: 'number' } }),
    },
    async ({ marker, steps, ms }: { marker: string; steps: number; ms: number }, { progress }) => {
      for (let step = 1; step <= steps; step++) {
        progress(step, steps)
        await pause(ms)
      }
      return marker
    },
  )
  .tool('ask', { input: answer }, async ({ marker }: { marker: string }, { elicit }) => {
    const { content } = await elicit(marker, answer)
    return `${marker} ${String((content as JsonObject | undefined)?.['marker'])}`
  })
  .tool('echo', { input: answer }, ({ marker }: { marker: string }) => marker)
  .tool(
    'keep',
    { input: inputOf({ value: { type: 'number' } }) },
    async ({ value }: { value: number }, { session }) => {
      const last = (await session?.get<number>('value')) ?? 0
      await session?.set('value', value)
      return String(last)
    },
  )
  .tool('touch', { input: answer }, async ({ marker }: { marker: string }) => {
    app.updated(`note://${marker}`)
    // Otherwise the change would be lost with this process.
    await app.announced()
    return marker
  })
  .tool('relist', { input: answer }, async ({ marker }: { marker: string }) => {
    app.changed('tools')
    await app.announced()
    return marker
  })
  .resource('note://{name}', {}, ({ name }) => name)

const { port } = settings
await (port === undefined ? app.work() : app.listen({ http: { port }, ws: true }))
process.send?.('ready')
watchTime()
// The tool that started this process is gone.
process.once('disconnect', () => process.exit())
