import { spawn } from 'node:child_process'

/** How a program ended. */
export interface Ended {
  /** The exit code; undefined if it could not be started. */
  readonly code: number | undefined
  /** The end of what it printed. */
  readonly text: string
}

const KEPT = 8_000

/** Runs a program without a shell and without input, until it ends or the signal aborts. */
export function runProgram(
  command: string,
  args: readonly string[],
  { cwd, signal }: { readonly cwd: string; readonly signal: AbortSignal },
): Promise<Ended> {
  return new Promise((resolve) => {
    const isWindowsScript = process.platform === 'win32' && command === 'npm'
    const child = spawn(isWindowsScript ? 'npm.cmd' : command, args, {
      cwd,
      signal,
      shell: isWindowsScript,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let text = ''
    const keep = (chunk: string): void => {
      text = (text + chunk).slice(-KEPT)
    }
    child.stdout.setEncoding('utf8').on('data', keep)
    child.stderr.setEncoding('utf8').on('data', keep)
    child.on('error', (error) => resolve({ code: undefined, text: error.message }))
    child.on('close', (code) => resolve({ code: code ?? undefined, text }))
  })
}
