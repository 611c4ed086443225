import { spawn } from 'node:child_process'
import { type HttpTarget, loadHttp, openSessionPool, openSession, openSessions } from './load/http.ts'
import { Pipe, endChild } from './load/stdio.ts'
import { type StreamTarget, Streams } from './load/streams.ts'
import { FIRST_ID, initializeText } from './messages.ts'
import { runCommands } from './commands.ts'
import type { Extent } from './extent.ts'
import { usageOf } from './usage.ts'

/** The commands of the load generator, the process at the other end of the wire. */
export interface LoadCommands {
  readonly http: { readonly target: HttpTarget; readonly extent: Extent }
  readonly sessions: { readonly port: number; readonly count: number }
  /** Opens sessions over which calls can be spread. */
  readonly sessionPool: { readonly port: number; readonly count: number }
  readonly open: { readonly name: string; readonly file: string; readonly options: string }
  readonly stdio: { readonly name: string; readonly inFlight: number; readonly extent: Extent }
  /** Opens connections under a name. */
  readonly connect: { readonly name: string; readonly target: StreamTarget }
  /** Keeps `inFlight` requests in flight on each connection. */
  readonly flood: { readonly name: string; readonly inFlight: number; readonly extent: Extent }
  /** Sends `rate` requests per second, regardless of the answers. */
  readonly pace: { readonly name: string; readonly rate: number; readonly extent: Extent }
  readonly startStdio: { readonly file: string; readonly options: string }
  readonly startHttp: { readonly file: string; readonly options: string }
}

/** A cold start: the time until the first answer, and its CPU time. */
export interface Start {
  readonly ms: number
  readonly serverCpuMs: number
}

const START_MS = 15_000
const pipes = new Map<string, Pipe>()
const streams = new Map<string, Streams>()

runCommands<LoadCommands>({
  http: ({ target, extent }) => loadHttp(target, extent),
  sessions: ({ port, count }) => openSessions(port, count),
  sessionPool: ({ port, count }) => openSessionPool(port, count),
  open: async ({ name, file, options }) => {
    const { pipe } = await Pipe.open(file, options)
    pipes.set(name, pipe)
  },
  stdio: ({ name, inFlight, extent }) => {
    const pipe = pipes.get(name)
    if (!pipe) throw new Error(`${name} was not opened`)
    return pipe.load(inFlight, extent)
  },
  connect: async ({ name, target }) => void streams.set(name, await Streams.open(target)),
  flood: ({ name, inFlight, extent }) => streamsOf(name).flood(inFlight, extent),
  pace: ({ name, rate, extent }) => streamsOf(name).pace(rate, extent),
  startStdio: async ({ file, options }): Promise<Start> => {
    const { pipe, ms } = await Pipe.open(file, options)
    const serverCpuMs = pipe.cpuMs()
    await pipe.close()
    return { ms, serverCpuMs }
  },
  startHttp,
})

function streamsOf(name: string): Streams {
  const found = streams.get(name)
  if (!found) throw new Error(`${name} was not connected`)
  return found
}

async function startHttp({ file, options }: LoadCommands['startHttp']): Promise<Start> {
  const start = performance.now()
  const child = spawn(process.execPath, [file, options], { stdio: ['pipe', 'pipe', 'ignore'] })
  try {
    const line = await new Promise<string>((done, fail) => {
      const timer = setTimeout(() => fail(new Error('the server did not start')), START_MS)
      child.once('exit', () => fail(new Error('the server exited before it listened')))
      child.stdout.once('data', (bytes: Buffer) => {
        clearTimeout(timer)
        done(bytes.toString())
      })
    })
    const { ports } = JSON.parse(line) as { readonly ports: readonly number[] }
    const ms = await firstAnswer(ports[0] ?? 0, start)
    return { ms, serverCpuMs: usageOf(child.pid ?? 0).cpuMs }
  } finally {
    await endChild(child)
  }
}

async function firstAnswer(port: number, start: number): Promise<number> {
  const { request } = await import('node:http')
  return new Promise((done, fail) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const sent = request({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers, agent: false })
    sent.on('error', fail)
    sent.on('response', (answered) => {
      if (answered.statusCode !== 200) fail(new Error(`initialize was answered with ${answered.statusCode}`))
      answered.once('data', () => done(performance.now() - start))
      answered.resume()
    })
    sent.end(initializeText(FIRST_ID))
  })
}

process.on('disconnect', () => void exit())

async function exit(): Promise<void> {
  await Promise.all([...pipes.values(), ...streams.values()].map((one) => one.close()))
  process.exit(0)
}

// The first fetch of a process loads a lot of code, which must not count for any subject.
void openSession(0).catch(() => undefined)
