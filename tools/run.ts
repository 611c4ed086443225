import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Runs a program to completion and returns its output; prints the output and throws if the program fails. */
export function run(program: string, args: readonly string[], cwd: string = process.cwd()): string {
  const done = spawnSync(program, args, { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (done.error) throw new Error(`${program} did not start: ${done.error.message}`)
  if (done.status === 0) return done.stdout
  process.stderr.write(done.stdout + done.stderr)
  throw new Error(`${[program, ...args].join(' ')} exited with ${done.status ?? done.signal}`)
}

/** Runs the main function of a tool; an error becomes one line and a failing exit code. */
export async function main(work: () => void | Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}

/** The version of an installed package. */
export function versionOf(name: string): string {
  return JSON.parse(readFileSync(join('node_modules', name, 'package.json'), 'utf8')).version
}
