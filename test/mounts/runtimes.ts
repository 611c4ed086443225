import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { bundle } from '../harness/bundle.ts'

export type Runtime = 'bun' | 'deno'

interface Way {
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

const DENO = ['--no-lock', '--no-prompt']

/** How each runtime runs a program that opens a port by itself, and serves a module that exports a server. */
const RUNTIMES: Readonly<Record<Runtime, { readonly run: Way; readonly serve: Way }>> = {
  bun: { run: { args: ['run'] }, serve: { args: ['run'], env: { PORT: '0' } } },
  deno: {
    run: { args: ['run', ...DENO, '--allow-net'] },
    // It may listen without being permitted to; only servers that send requests need more.
    serve: { args: ['serve', ...DENO, '--host', '127.0.0.1', '--port', '0'] },
  },
}

/** A server under another runtime. */
export interface Started {
  readonly url: string
  readonly port: number
  /** What the runtime and the server printed. */
  readonly printed: readonly string[]
  stop(): Promise<void>
}

/** Starts the server of these tests, which opens a port by itself, for the length of the test; returns the port. */
export async function startUnder(runtime: Runtime): Promise<number> {
  const { port, stop } = await start(runtime, RUNTIMES[runtime].run, 'runtime-server.ts')
  onTestFinished(stop)
  return port
}

/** Serves a module of this folder that exports a server; `flags` are further ones of the runtime. */
export function serveUnder(runtime: Runtime, entry: string, flags: readonly string[] = []): Promise<Started> {
  const { args, env } = RUNTIMES[runtime].serve
  return start(runtime, { args: [...args, ...flags], ...(env && { env }) }, entry)
}

async function start(runtime: Runtime, { args, env }: Way, entry: string): Promise<Started> {
  const folder = mkdtempSync(join(tmpdir(), `pierhead-${runtime}-`))
  const outfile = bundle(new URL(entry, import.meta.url), join(folder, 'server.mjs'))
  const program = fileURLToPath(new URL(`../../node_modules/.bin/${runtime}`, import.meta.url))
  const child = spawn(program, [...args, outfile], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
    rmSync(folder, { recursive: true })
  }
  const printed: string[] = []
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      printed.push(chunk.toString('utf8'))
      const port = /(?:listening on |https?:\/\/[\w.]+:)(\d+)/i.exec(printed.join(''))?.[1]
      if (port !== undefined)
        resolve({ url: `http://127.0.0.1:${port}/mcp`, port: Number(port), printed, stop })
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('error', reject)
    void exited.then(() => reject(new Error(`${runtime} ended: ${printed.join('').slice(-2000)}`)))
  })
}
