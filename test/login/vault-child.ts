import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, onTestFinished } from 'vitest'
import { bundle } from '../harness/bundle.ts'

/** A folder for the tests of a file. */
export const folder: string = mkdtempSync(join(tmpdir(), 'pierhead-vault-'))
afterAll(() => rmSync(folder, { recursive: true }))

const PROGRAM = bundle(new URL('vault-program.ts', import.meta.url), join(folder, 'program.mjs'))

/** A running program that uses a vault. */
export interface VaultProgram {
  readonly child: ChildProcessWithoutNullStreams
  /** Its next line; undefined at its end. */
  line(): Promise<string | undefined>
  /** Kills it as the system would, and waits for its end. */
  kill(): Promise<void>
  /** Waits for its end. Returns its exit code. */
  end(): Promise<number | null>
}

/** Starts `vault-program.ts`, which the end of the test ends. */
export function startProgram(...args: readonly string[]): VaultProgram {
  const child = spawn(process.execPath, [PROGRAM, ...args])
  child.stderr.pipe(process.stderr)
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const exited = once(child, 'exit') as Promise<[number | null]>
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  onTestFinished(kill)
  return {
    child,
    line: async () => {
      const next = (await lines.next()) as IteratorResult<string, undefined>
      return next.value
    },
    kill,
    end: async () => (await exited)[0],
  }
}
