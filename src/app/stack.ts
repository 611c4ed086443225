interface Thrown {
  readonly name?: string
  readonly message?: string
  readonly hint?: string
  readonly stack?: string
  readonly cause?: Thrown
}

/** How many causes are shown. */
export const MAX_CAUSES = 4
/** How much of a message is looked for in a stack; either may be cut after that. */
const COMPARED = 512
/** Frames that do not help to find a mistake in a program: those of Node, and of this package once it is installed. */
const FOREIGN = /\(?node:|[\\/]node_modules[\\/]pierhead[\\/]/

/** An error for people: its message, the frames of the program, and its causes, each on lines of their own. */
export function readableError(error: Thrown, depth = 0): string {
  const own = withHint(withoutForeignFrames(textOf(error)), error.hint)
  if (error.cause === undefined || depth === MAX_CAUSES) return own
  return `${own}\ncaused by ${readableError(error.cause, depth + 1)}`
}

/** The text of an error with what to do about it, before the frames. */
function withHint(text: string, hint: string | undefined): string {
  if (hint === undefined) return text
  const lines = text.split('\n')
  const at = lines.findIndex(isFrame)
  return lines.toSpliced(at < 0 ? lines.length : at, 0, hint).join('\n')
}

function isFrame(line: string): boolean {
  return /^\s+at /.test(line)
}

/** Most stacks begin with the message, but not those of every library. */
function textOf({ name, message = '', stack }: Thrown): string {
  if (stack === undefined) return message
  const text = stack.includes(message.slice(0, COMPARED)) ? stack : `${name ?? 'Error'}: ${message}\n${stack}`
  return text.trimEnd()
}

/** A stack without frames that are not the program's, unless there are no others. */
function withoutForeignFrames(stack: string): string {
  const lines = stack.split('\n')
  const kept = lines.filter((line) => !isFrame(line) || !FOREIGN.test(line))
  return (kept.some(isFrame) ? kept : lines).join('\n')
}
