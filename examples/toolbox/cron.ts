import { ToolError } from 'pierhead'

/** The least and greatest value of each field: minute, hour, day, month, weekday. */
const RANGES = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const

/** Years in which the next time is looked for; 29 February comes at most eight years later. */
const YEARS = 9

/** The next times of a cron expression with five fields, in UTC. */
export function cronTimes(expression: string, after: Date, count: number): string[] {
  const fields = expression.trim().split(/\s+/)
  if (fields.length !== 5)
    throw new ToolError('A cron expression has five fields: minute, hour, day, month and weekday.')
  const sets = fields.map((field, i) => valuesOf(field, RANGES[i]!))
  const [minutes, hours, days, months, weekdays] = sets as [
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
  ]
  if (weekdays.has(7)) weekdays.add(0)
  // If both are restricted, a day that fits either counts.
  const isEither = !fields[2]?.startsWith('*') && !fields[4]?.startsWith('*')
  const fits = (day: Date): boolean => {
    const [byDate, byWeekday] = [days.has(day.getUTCDate()), weekdays.has(day.getUTCDay())]
    return months.has(day.getUTCMonth() + 1) && (isEither ? byDate || byWeekday : byDate && byWeekday)
  }
  const offsets = sorted(hours).flatMap((hour) =>
    sorted(minutes).map((minute) => (hour * 60 + minute) * 60_000),
  )
  const times: number[] = []
  const day = new Date(Date.UTC(after.getUTCFullYear(), after.getUTCMonth(), after.getUTCDate()))
  for (let left = YEARS * 366; left > 0 && times.length < count; left--) {
    if (fits(day))
      times.push(...offsets.map((offset) => day.getTime() + offset).filter((time) => time > after.getTime()))
    day.setUTCDate(day.getUTCDate() + 1)
  }
  return times.slice(0, count).map((time) => new Date(time).toISOString())
}

const sorted = (values: ReadonlySet<number>): number[] => [...values].toSorted((a, b) => a - b)

/** The values of one field, such as star/15, 1-5 or 0,30. */
function valuesOf(field: string, [least, greatest]: (typeof RANGES)[number]): Set<number> {
  const values = new Set<number>()
  for (const part of field.split(',')) {
    const [, all, from, to, step = '1'] =
      /^(?:(\*)|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part) ?? []
    const first = all === undefined ? Number(from) : least
    const last = all !== undefined || (to === undefined && part.includes('/')) ? greatest : Number(to ?? from)
    if (!(first >= least && last <= greatest && first <= last && Number(step) > 0))
      throw new ToolError(`"${part}" does not fit: use ${least} to ${greatest}, such as */5, 1-3 or 2,4.`)
    for (let value = first; value <= last; value += Number(step)) values.add(value)
  }
  return values
}
