import { type ChildProcess, fork, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'esbuild'
import type { Order, Reply } from './orders.ts'

const BUILT = '.cache/bench'
const START_MS = 20_000
const END_MS = 2000

/** Compiles the processes of the bench, so that they run on plain Node like what they measure. */
export async function compile(): Promise<void> {
  await build({
    entryPoints: [
      'bench/load.ts',
      'bench/in-process.ts',
      'bench/client.ts',
      'bench/scan.ts',
      'bench/held.ts',
      'bench/ladder.ts',
      'bench/rungs.ts',
    ],
    outdir: BUILT,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
  })
}

/** A process that carries out orders. */
export interface Worker<Orders> {
  /** Gives what the order came to, and the processor time that it cost the worker. */
  ask<Result>(name: keyof Orders & string, value: Orders[keyof Orders]): Promise<Result & Cost>
  close(): Promise<void>
}

export interface Cost {
  readonly workerCpuMs: number
}

/** Starts one of the compiled processes. */
export function startWorker<Orders>(
  name: 'load' | 'in-process' | 'client' | 'scan' | 'held' | 'ladder',
  options = '{}',
): Worker<Orders> {
  const child = fork(resolve(BUILT, `${name}.mjs`), [options], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 2, 2, 'ipc'],
  })
  const waiting = new Map<number, { done: (reply: Reply) => void; fail: (error: Error) => void }>()
  let number = 0
  child.on('message', (reply: Reply) => {
    waiting.get(reply.number)?.done(reply)
    waiting.delete(reply.number)
  })
  child.on('exit', () => {
    for (const { fail } of waiting.values()) fail(new Error(`the ${name} process ended`))
  })
  return {
    ask: async (order, value) => {
      const message: Order = { number: ++number, name: order, value }
      const reply = await new Promise<Reply>((done, fail) => {
        waiting.set(message.number, { done, fail })
        child.send(message)
      })
      if (reply.error !== undefined) throw new Error(reply.error)
      return { ...(reply.value as object), workerCpuMs: reply.cpuMs } as never
    },
    close: () => ended(child, () => child.disconnect()),
  }
}

/** A subject that listens on a port of its own, or on several. */
export interface HttpServer {
  readonly port: number
  readonly ports: readonly number[]
  readonly pid: number
  /** Bytes after a full collection. */
  memory(): Promise<Memory>
  close(): Promise<void>
}

/** What a process holds: its heap with what hangs on it, and all of it that is resident. */
export interface Memory {
  readonly heap: number
  readonly rss: number
}

/** Starts a subject and waits until it listens. */
export async function startHttp(file: string, options: string): Promise<HttpServer> {
  const child = spawn(process.execPath, ['--expose-gc', file, options], { stdio: ['pipe', 'pipe', 'pipe'] })
  const lines = createInterface({ input: child.stdout })
  let complaint = ''
  child.stderr.on('data', (bytes: Buffer) => (complaint = (complaint + bytes).slice(-2000)))
  const nextLine = (): Promise<string> =>
    new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Error(`${file} said nothing`)), START_MS)
      child.once('exit', () => fail(new Error(`${file} ended: ${complaint}`)))
      lines.once('line', (line) => {
        clearTimeout(timer)
        done(line)
      })
    })
  const { ports } = JSON.parse(await nextLine()) as { readonly ports: readonly number[] }
  return {
    port: ports[0] ?? 0,
    ports,
    pid: child.pid ?? 0,
    memory: async () => {
      child.stdin.write('\n')
      return JSON.parse(await nextLine()) as Memory
    },
    close: () => ended(child, () => child.stdin.end()),
  }
}

/** Asks a child to end, and ends it by force if it does not. */
async function ended(child: ChildProcess, ask: () => void): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise<void>((done) => void child.once('exit', () => done()))
  const timer = setTimeout(() => child.kill('SIGKILL'), END_MS)
  ask()
  await gone
  clearTimeout(timer)
}
