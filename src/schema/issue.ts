/** One problem with a value, and its place. */
export interface Issue {
  readonly path: readonly PropertyKey[]
  readonly problem: string
  /** The expected type, if the value has another. */
  readonly expected?: string
  /** The received type; undefined if a required value is missing. */
  readonly got?: string | undefined
}

/** The most issues that are reported. */
export const MAX_ISSUES = 3

/** The first few issues as one readable line. */
export function toLine(issues: readonly Issue[]): string {
  return issues
    .slice(0, MAX_ISSUES)
    .map(({ path, problem }) =>
      path.length === 0 ? oneLine(problem) : `${pathText(path)}: ${oneLine(problem)}`,
    )
    .join('; ')
}

/** Shortens a text to a recognisable length, with an ellipsis where it was cut. */
export function shorten(text: string, length = 80): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text
}

/** A path as written in code: `lines[2].price`. */
export function pathText(path: readonly PropertyKey[]): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else text += `${text === '' ? '' : '.'}${stepText(String(step))}`
  }
  return shorten(text, 120)
}

function stepText(step: string): string {
  return /^[\w$-]{1,60}$/.test(step) ? step : shorten(JSON.stringify(step), 60)
}

function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is removed
  return shorten(text.replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, ' ').trim(), 120)
}
