import { type ChildProcess, fork, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'esbuild'
import type { Command, Reply } from './commands.ts'

const BUILT = '.cache/bench'
const START_MS = 60_000
const EXIT_MS = 10_000

/** Compiles the processes of the bench, so that they run on plain Node like the programs they measure. */
export async function compile(): Promise<void> {
  await build({
    entryPoints: [
      'bench/load.ts',
      'bench/in-process.ts',
      'bench/client.ts',
      'bench/scan.ts',
      'bench/verify.ts',
      'bench/held-sessions.ts',
      'bench/layers.ts',
      'bench/layer-thread.ts',
      'bench/tasks.ts',
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

/** A process that runs commands. */
export interface Worker<Commands> {
  /** Returns the result of the command and the CPU time that the worker used for it. */
  ask<Result>(name: keyof Commands & string, value: Commands[keyof Commands]): Promise<Result & Cost>
  close(): Promise<void>
}

export interface Cost {
  readonly workerCpuMs: number
}

/** Starts one of the compiled processes. */
export function startWorker<Commands>(
  name: 'load' | 'in-process' | 'client' | 'scan' | 'verify' | 'held-sessions' | 'layers' | 'tasks',
  options = '{}',
): Worker<Commands> {
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
    for (const { fail } of waiting.values()) fail(new Error(`the ${name} process exited`))
  })
  return {
    ask: async (command, value) => {
      const message: Command = { number: ++number, name: command, value }
      const reply = await new Promise<Reply>((done, fail) => {
        waiting.set(message.number, { done, fail })
        child.send(message)
      })
      if (reply.error !== undefined) throw new Error(reply.error)
      return { ...(reply.value as object), workerCpuMs: reply.cpuMs } as never
    },
    close: () => stop(child, () => child.disconnect()),
  }
}

/** A subject that listens on one or more ports. */
export interface HttpServer {
  readonly port: number
  readonly ports: readonly number[]
  readonly pid: number
  /** Memory use after a full garbage collection. */
  memory(): Promise<Memory>
  close(): Promise<void>
}

/** The memory of a process in bytes: heap plus external memory, and resident set. */
export interface Memory {
  readonly heap: number
  readonly rss: number
}

/** Starts a subject and waits until it listens. */
export async function startHttp(file: string, options: string): Promise<HttpServer> {
  const child = spawn(process.execPath, ['--expose-gc', file, options], { stdio: ['pipe', 'pipe', 'pipe'] })
  const lines = createInterface({ input: child.stdout })
  let stderr = ''
  child.stderr.on('data', (bytes: Buffer) => (stderr = (stderr + bytes).slice(-2000)))
  const nextLine = (): Promise<string> =>
    new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Error(`${file} printed nothing`)), START_MS)
      child.once('exit', () => fail(new Error(`${file} exited: ${stderr}`)))
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
    close: () => stop(child, () => child.stdin.end()),
  }
}

/** Asks a child to exit, and kills it if it does not. */
async function stop(child: ChildProcess, askToExit: () => void): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise<void>((done) => void child.once('exit', () => done()))
  const timer = setTimeout(() => child.kill('SIGKILL'), EXIT_MS)
  askToExit()
  await exited
  clearTimeout(timer)
}
