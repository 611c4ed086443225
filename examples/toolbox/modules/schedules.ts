import { ToolError, type ToolMap } from 'pierhead'
import { z } from 'zod'
import { cronTimes } from '../cron.ts'
import { addTo, DAY, dayOf, startOf } from '../days.ts'
import { DATE, pure } from '../pure.ts'

const TIME = z.iso.datetime().meta({ examples: ['2026-07-28T09:00:00Z'] })
const SLOT = z
  .strictObject({ from: TIME, to: TIME })
  .meta({ examples: [{ from: '2026-07-28T09:00:00Z', to: '2026-07-28T10:30:00Z' }] })
const SLOTS = z.array(SLOT).max(1000)
const HOLIDAYS = z.array(DATE).max(1000).default([])

type Slot = z.output<typeof SLOT>
type Span = readonly [from: number, to: number]

/** The longest span that is counted day by day. */
const MOST_DAYS = 40_000
const UNITS = { w: 604_800, d: 86_400, h: 3600, m: 60, s: 1 } as const

function spanOf({ from, to }: Slot): Span {
  const span = [Date.parse(from), Date.parse(to)] as const
  if (span[0] >= span[1]) throw new ToolError(`The slot that begins at ${from} ends before.`)
  return span
}

const slotOf = ([from, to]: Span): Slot => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
})

/** Joins spans that touch or overlap. */
function merged(spans: readonly Span[]): Span[] {
  const joined: Span[] = []
  for (const [from, to] of spans.toSorted((a, b) => a[0] - b[0])) {
    const last = joined.at(-1)
    if (last !== undefined && from <= last[1]) joined.splice(-1, 1, [last[0], Math.max(last[1], to)])
    else joined.push([from, to])
  }
  return joined
}

/** The parts of a span that others leave free. */
function freeIn([from, to]: Span, busy: readonly Span[]): Span[] {
  const free: Span[] = []
  let start = from
  for (const [begin, end] of merged(busy)) {
    if (begin > start) free.push([start, Math.min(begin, to)])
    start = Math.max(start, end)
  }
  return [...free, [start, to] as const].filter((span) => span[0] < span[1])
}

const isWorkingDay = (ms: number, holidays: readonly string[]): boolean =>
  ![0, 6].includes(new Date(ms).getUTCDay()) && !holidays.includes(dayOf(ms))

function secondsOf(text: string): number {
  if (!/^(?:\d{1,6}[wdhms]\s*)+$/.test(text)) throw new ToolError('Write a duration like 2d 3h 30m.')
  return [...text.matchAll(/(\d+)([wdhms])/g)].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * UNITS[unit as keyof typeof UNITS],
    0,
  )
}

function durationText(seconds: number): string {
  let rest = seconds
  const parts = Object.entries(UNITS).map(([unit, worth]) => {
    const amount = Math.floor(rest / worth)
    rest %= worth
    return amount === 0 ? '' : `${amount}${unit}`
  })
  return parts.filter((part) => part !== '').join(' ') || '0s'
}

export const schedules: ToolMap = {
  schedule_working_days: pure(
    'Counts the working days from one date to another, both included: Monday to Friday, without holidays.',
    { from: DATE, to: DATE, holidays: HOLIDAYS },
    { days: z.int() },
    ({ from, to, holidays }) => {
      const [first, last] = [startOf(from), startOf(to)]
      if ((last - first) / DAY > MOST_DAYS) throw new ToolError('The dates are more than a century apart.')
      let days = 0
      for (let day = first; day <= last; day += DAY) days += Number(isWorkingDay(day, holidays))
      return { days }
    },
  ),
  schedule_add_working_days: pure(
    'Finds the date so many working days after another.',
    { from: DATE, days: z.int().min(1).max(10_000), holidays: HOLIDAYS },
    { date: z.string() },
    ({ from, days, holidays }) => {
      let [day, left] = [startOf(from), days]
      while (left > 0) {
        day += DAY
        left -= Number(isWorkingDay(day, holidays))
      }
      return { date: dayOf(day) }
    },
  ),
  schedule_cron: pure(
    'Finds the next times of a cron expression with five fields, in UTC.',
    {
      expression: z
        .string()
        .max(200)
        .meta({ examples: ['*/15 9-17 * * 1-5'] }),
      after: TIME,
      count: z.int().min(1).max(50).default(5),
    },
    { times: z.array(z.string()) },
    ({ expression, after, count }) => ({ times: cronTimes(expression, new Date(after), count) }),
  ),
  schedule_repeat: pure(
    'Lists dates that repeat, such as every second week. The last day of a month stays within shorter months.',
    {
      from: DATE,
      every: z.int().min(1).max(365).default(1),
      unit: z.enum(['days', 'weeks', 'months', 'years']),
      count: z.int().min(1).max(100),
    },
    { dates: z.array(z.string()) },
    ({ from, every, unit, count }) => ({
      dates: Array.from({ length: count }, (_, i) => addTo(from, i * every, unit)),
    }),
  ),
  schedule_overlap: pure(
    'Says for how many minutes two slots overlap.',
    { a: SLOT, b: SLOT },
    { overlaps: z.boolean(), minutes: z.number() },
    (given) => {
      const [a, b] = [spanOf(given.a), spanOf(given.b)]
      const minutes = Math.max(0, Math.min(a[1], b[1]) - Math.max(a[0], b[0])) / 60_000
      return { overlaps: minutes > 0, minutes }
    },
  ),
  schedule_merge: pure(
    'Joins slots that touch or overlap, in order.',
    { slots: SLOTS },
    { slots: z.array(z.object({ from: z.string(), to: z.string() })) },
    ({ slots }) => ({ slots: merged(slots.map(spanOf)).map(slotOf) }),
  ),
  schedule_free: pure(
    'Finds the free slots of at least so many minutes between busy ones.',
    { within: SLOT, busy: SLOTS, minutes: z.int().min(1).max(10_080).default(30) },
    { slots: z.array(z.object({ from: z.string(), to: z.string() })) },
    ({ within, busy, minutes }) => ({
      slots: freeIn(spanOf(within), busy.map(spanOf))
        .filter(([from, to]) => to - from >= minutes * 60_000)
        .map(slotOf),
    }),
  ),
  schedule_seconds: pure(
    'Reads a duration such as 2d 3h 30m: weeks, days, hours, minutes and seconds.',
    {
      duration: z
        .string()
        .max(100)
        .meta({ examples: ['1h 30m'] }),
    },
    { seconds: z.int() },
    ({ duration }) => ({ seconds: secondsOf(duration) }),
  ),
  schedule_duration: pure(
    'Writes a number of seconds as a duration such as 2d 3h 30m.',
    { seconds: z.int().min(0).max(1_000_000_000) },
    { duration: z.string() },
    ({ seconds }) => ({ duration: durationText(seconds) }),
  ),
}
