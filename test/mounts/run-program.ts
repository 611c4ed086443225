import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { bundle } from '../harness/bundle.ts'
import type { Runtime } from './runtimes.ts'

const ARGS: Readonly<Record<Runtime, readonly string[]>> = {
  bun: ['run'],
  deno: ['run', '--allow-all', '--no-lock', '--no-prompt'],
}

/** Runs a module, given by its URL, under a runtime until the test is over. */
export function runProgram(
  runtime: Runtime,
  entry: URL,
  ...args: readonly string[]
): ChildProcessByStdio<Writable, Readable, null> {
  const folder = mkdtempSync(join(tmpdir(), `pierhead-${runtime}-`))
  const outfile = bundle(entry, join(folder, 'program.mjs'))
  const program = fileURLToPath(new URL(`../../node_modules/.bin/${runtime}`, import.meta.url))
  const child = spawn(program, [...ARGS[runtime], outfile, ...args], { stdio: ['pipe', 'pipe', 'ignore'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  })
  return child
}
