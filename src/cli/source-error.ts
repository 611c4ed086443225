/** The code of errors in sources, which say everything themselves. */
const CODE = 'pierhead_source'

/** What esbuild says of a mistake in a source. */
interface Mistake {
  readonly text: string
  readonly location?: { readonly line: number; readonly column: number; readonly lineText: string } | null
}

const MOST_MISTAKES = 5
const LONGEST_LINE = 200

/** An error of esbuild as one of the source: where, what, and the line. Nothing in its stack is of interest. */
export function sourceError(thrown: unknown, path: string): unknown {
  const { errors } = (thrown ?? {}) as { readonly errors?: readonly Mistake[] }
  if (!Array.isArray(errors) || errors.length === 0) return thrown
  const mistakes = errors as readonly Mistake[]
  const error = new SyntaxError(
    mistakes
      .slice(0, MOST_MISTAKES)
      .map((mistake) => mistakeText(mistake, path))
      .join('\n'),
  )
  error.stack = `${error.name}: ${error.message}`
  return Object.assign(error, { code: CODE })
}

function mistakeText({ text, location }: Mistake, path: string): string {
  if (location === undefined || location === null) return `${path}: ${text}`
  const { line, column, lineText } = location
  const place = `${path}:${line}:${column + 1}: ${text}`
  if (lineText.length > LONGEST_LINE) return place
  const head = `  ${line} | `
  const space = lineText.slice(0, column).replaceAll(/[^\t]/g, ' ')
  return `${place}\n${head}${lineText}\n${' '.repeat(head.length - 2)}| ${space}^`
}

/** Lets Node print such an error alone, and not what led to it inside of Node. Programs that handle errors themselves still get it. */
export function showSourceErrors(): void {
  process.on('uncaughtExceptionMonitor', (error: Error & { readonly code?: unknown }) => {
    if (error?.code !== CODE || process.listenerCount('uncaughtException') > 0) return
    console.error(`${error.name}: ${error.message}`)
    process.exit(1)
  })
}
