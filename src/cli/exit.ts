/** The exit codes of the command. Scripts rely on them, so they never change. */
export const EXIT = {
  ok: 0,
  /** Something unexpected. */
  failed: 1,
  /** A wrong command, argument or option, or no target. */
  usage: 2,
  /** The server wants a login, or rejected the credentials. */
  auth: 3,
  /** The target could not be reached, or its program did not start. */
  unreachable: 4,
  /** The tool reported an error. */
  tool: 5,
  /** The server rejected the request, or its answer was wrong. */
  server: 6,
  /** No answer in time, or no time left for all checks. */
  timeout: 7,
  /** Tests or checks failed. */
  checks: 8,
  /** Interrupted with Ctrl-C. */
  interrupted: 130,
  /** Nobody reads the output any more, such as `head` that has seen enough. */
  unread: 141,
  /** Ended by SIGTERM. */
  terminated: 143,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** What each exit code means, for the reference page. */
export const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: 'everything worked',
  failed: 'something unexpected happened',
  usage: 'a command, argument or option was wrong',
  auth: 'the server wants a login, or rejected the credentials',
  unreachable: 'the target could not be reached, or its program did not start',
  tool: 'the tool reported an error',
  server: 'the server rejected the request, or sent a wrong answer',
  timeout: 'there was no answer in time, or the time was over before everything was checked',
  checks: 'tests or checks failed',
  interrupted: 'you pressed Ctrl-C',
  unread: 'the program that reads the output has ended, such as `head`',
  terminated: 'another program ended the command with SIGTERM',
}
