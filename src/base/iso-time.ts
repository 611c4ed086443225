let second = Number.NaN
/** The text of that second, up to its point. */
let start = ''

/** A time in ISO 8601. Times of the same second share the work, as many do on a busy server. */
export function isoTime(ms: number): string {
  const its = Math.floor(ms / 1000)
  if (its !== second) {
    start = new Date(its * 1000).toISOString().slice(0, -4)
    second = its
  }
  return `${start}${String(Math.trunc(ms - its * 1000)).padStart(3, '0')}Z`
}
