import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { afterAll, onTestFinished } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'pierhead-security-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A program of this folder as one file, which starts in a fraction of the time. */
export function bundle(name: string): string {
  const outfile = join(folder, `${name}.mjs`)
  buildSync({
    entryPoints: [fileURLToPath(new URL(`${name}.ts`, import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    conditions: ['pierhead-source'],
    format: 'esm',
    logLevel: 'error',
    // What is written as CommonJS asks for built-in modules by this name.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)",
    },
  })
  return outfile
}

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end, with some text on its input. */
export function run(
  file: string,
  args: readonly string[],
  input = '',
  flags: readonly string[] = [],
): Promise<Ended> {
  const child = spawn(process.execPath, [...flags, file, ...args])
  onTestFinished(() => void child.kill('SIGKILL'))
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => void (stdout += chunk.toString('utf8')))
  child.stderr.on('data', (chunk: Buffer) => void (stderr += chunk.toString('utf8')))
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })))
}
