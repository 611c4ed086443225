import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'
import { bundle as bundleFile } from '../harness/bundle.ts'

const folder = mkdtempSync(join(tmpdir(), 'pierhead-security-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A program of this folder as one file, which starts in a fraction of the time. */
export function bundle(name: string): string {
  return bundleFile(new URL(`${name}.ts`, import.meta.url), join(folder, `${name}.mjs`), {
    // What is written as CommonJS asks for built-in modules by this name.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)",
    },
  })
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
