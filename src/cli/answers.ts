import type { Answers } from 'pierhead/client'
import type { Io } from './io.ts'
import type { Output } from './output.ts'

/** Answers the questions of a server by asking the person at the terminal. */
export function terminalAnswers(_io: Io, _output: Output): Answers {
  return {}
}
