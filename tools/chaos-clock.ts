// Shifts the wall clock of the process by the milliseconds of CHAOS_SHIFT. Node loads it before the program (`--import`), so that nobody sees the other time.

/** How far the clock is ahead. */
const SHIFT_MS = Number(process.env['CHAOS_SHIFT'] ?? 0)

const RealDate = Date
const now = (): number => RealDate.now() + SHIFT_MS

/** A `Date` whose now is shifted. */
class ShiftedDate extends RealDate {
  constructor(...values: readonly unknown[]) {
    super(...((values.length === 0 ? [now()] : values) as [number]))
  }

  static override now(): number {
    return now()
  }
}

if (SHIFT_MS !== 0) {
  globalThis.Date = ShiftedDate as DateConstructor
  const timeOrigin = performance.timeOrigin + SHIFT_MS
  Object.defineProperty(performance, 'timeOrigin', { get: () => timeOrigin, configurable: true })
}
