/** One thing that is wrong with a value, and where. */
export interface Issue {
  readonly path: readonly PropertyKey[]
  readonly problem: string
  /** The type that was expected, where another came. */
  readonly expected?: string
  /** The type that came; undefined where nothing did, though something must. */
  readonly got?: string | undefined
}

/** No more issues than this are told. */
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

/** Shortens a text to about what a reader needs to recognise it. */
export function clip(text: string, length = 80): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text
}

/** A path as one would write it in code: `lines[2].price`. */
export function pathText(path: readonly PropertyKey[]): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else text += `${text === '' ? '' : '.'}${stepText(String(step))}`
  }
  return clip(text, 120)
}

function stepText(step: string): string {
  return /^[\w$-]{1,60}$/.test(step) ? step : clip(JSON.stringify(step), 60)
}

function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is removed
  return clip(text.replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, ' ').trim(), 120)
}
