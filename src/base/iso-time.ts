const DAY_MS = 86_400_000
const ZERO = 48
const COLON = 58
const POINT = 46
const Z = 90

let day = Number.NaN
/** The text of that day, up to its T. */
let start = ''

/** A time in ISO 8601. Times of the same day share the date; the rest costs the same for every time. */
export function isoTime(ms: number): string {
  const whole = Math.trunc(ms)
  const its = Math.floor(whole / DAY_MS)
  if (its !== day) {
    start = new Date(its * DAY_MS).toISOString().slice(0, -13)
    day = its
  }
  const rest = whole - its * DAY_MS
  const second = Math.floor(rest / 1000)
  const minute = Math.floor(second / 60)
  const hour = Math.floor(minute / 60)
  const digit = (value: number, of: number): number => ZERO + (Math.floor(value / of) % 10)
  return (
    start +
    String.fromCharCode(
      digit(hour, 10),
      digit(hour, 1),
      COLON,
      digit(minute % 60, 10),
      digit(minute % 60, 1),
      COLON,
      digit(second % 60, 10),
      digit(second % 60, 1),
      POINT,
      digit(rest % 1000, 100),
      digit(rest % 1000, 10),
      digit(rest % 1000, 1),
      Z,
    )
  )
}
