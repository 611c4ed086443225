import { PassThrough } from 'node:stream'
import type { Answers } from 'pierhead/client'
import { terminalAnswers } from '../../src/cli/answers.ts'
import type { Io } from '../../src/cli/io.ts'
import { Output } from '../../src/cli/output.ts'

/** A terminal without a process behind it, at which questions of a server are answered. */
export interface Screen {
  readonly answers: Answers
  readonly text: () => string
  readonly press: (keys: string) => void
  readonly leave: () => void
  readonly signal: AbortSignal
}

/** Opens such a terminal. */
export function screen(): Screen {
  const stop = new AbortController()
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined })
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 })
  let text = ''
  stderr.setEncoding('utf8').on('data', (more: string) => (text += more))
  const io: Io = {
    stdin,
    stdout: stderr,
    stderr,
    env: { NO_COLOR: '1' },
    cwd: '/',
    signal: stop.signal,
  }
  return {
    answers: terminalAnswers(io, new Output(io)),
    text: () => text,
    press: (keys) => stdin.write(keys),
    leave: () => stop.abort(),
    signal: stop.signal,
  }
}
