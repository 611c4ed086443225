import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { onTestFinished } from 'vitest'

/** How to run a program under each runtime; both are packages of their own. */
const RUNTIMES = {
  bun: ['run'],
  deno: ['run', '--allow-net', '--allow-env', '--allow-read', '--no-lock', '--no-prompt'],
} as const

export type Runtime = keyof typeof RUNTIMES

/** Starts the server of these tests under another runtime and returns its port. */
export async function startUnder(runtime: Runtime): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), `pierhead-${runtime}-`))
  const outfile = join(folder, 'server.mjs')
  buildSync({
    entryPoints: [fileURLToPath(new URL('runtime-server.ts', import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  })
  const program = fileURLToPath(new URL(`../../node_modules/.bin/${runtime}`, import.meta.url))
  const child = spawn(program, [...RUNTIMES[runtime], outfile], { stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
    rmSync(folder, { recursive: true })
  })
  return new Promise((resolve, reject) => {
    let printed = ''
    const read = (chunk: Buffer): void => {
      printed += chunk.toString('utf8')
      const port = /listening on (\d+)/.exec(printed)?.[1]
      if (port !== undefined) resolve(Number(port))
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('error', reject)
    void exited.then(() => reject(new Error(`${runtime} ended: ${printed.slice(-2000)}`)))
  })
}
