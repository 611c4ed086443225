import type { ToolMap } from 'pierhead'
import { z } from 'zod'
import { addMonths, addTo, DAY, dayOf, daysInMonth, startOf } from '../days.ts'
import { DATE, pure } from '../pure.ts'

const YEAR = z
  .int()
  .min(1)
  .max(9999)
  .meta({ examples: [2026] })
const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const

/** The weekday, from 0 for Monday. */
const weekday = (ms: number): number => (new Date(ms).getUTCDay() + 6) % 7

/** Whole months between two dates, the earlier one first. */
function monthsBetween(from: string, to: string): number {
  const [a, b] = [new Date(startOf(from)), new Date(startOf(to))]
  const months = (b.getUTCFullYear() - a.getUTCFullYear()) * 12 + b.getUTCMonth() - a.getUTCMonth()
  return addMonths(from, months) > to ? months - 1 : months
}

/** The date of Easter Sunday (Meeus, Jones, Butcher). */
function easter(year: number): string {
  const [a, b, c] = [year % 19, Math.floor(year / 100), year % 100]
  const [d, e] = [Math.floor(b / 4), b % 4]
  const g = Math.floor((8 * b + 13) / 25)
  const h = (19 * a + b - d - g + 15) % 30
  const l = (32 + 2 * e + 2 * Math.floor(c / 4) - h - (c % 4)) % 7
  const m = Math.floor((a + 11 * h + 19 * l) / 433)
  const month = Math.floor((h + l - 7 * m + 90) / 25)
  return dayOf(Date.UTC(year, month - 1, (h + l - 7 * m + 33 * month + 19) % 32))
}

/** The ISO week of a day: the week belongs to the year of its Thursday. */
function weekOf(ms: number): { year: number; week: number } {
  const thursday = ms + (3 - weekday(ms)) * DAY
  const year = new Date(thursday).getUTCFullYear()
  return { year, week: Math.floor((thursday - Date.UTC(year, 0, 1)) / DAY / 7) + 1 }
}

const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
)

/** A date for people. `Intl` would write it differently in other versions of Node. */
function written(ms: number, style: 'long' | 'medium' | 'short'): string {
  const date = new Date(ms)
  const month = MONTHS[date.getUTCMonth()] ?? ''
  const text = `${date.getUTCDate()} ${style === 'short' ? month.slice(0, 3) : month} ${date.getUTCFullYear()}`
  return style === 'long' ? `${WEEKDAYS[weekday(ms)]}, ${text}` : text
}

export const dates: ToolMap = {
  date_add: pure(
    'Adds days, weeks, months or years to a date; a negative amount goes back.',
    {
      date: DATE,
      amount: z
        .int()
        .min(-10_000)
        .max(10_000)
        .meta({ examples: [3] }),
      unit: z.enum(['days', 'weeks', 'months', 'years']),
    },
    { date: z.string() },
    ({ date, amount, unit }) => ({ date: addTo(date, amount, unit) }),
  ),
  date_difference: pure(
    'Says how long it is from one date to another: in days, and in whole months and years.',
    { from: DATE, to: DATE },
    { days: z.int(), months: z.int(), years: z.int() },
    ({ from, to }) => {
      const [first, last] = from <= to ? [from, to] : [to, from]
      const months = monthsBetween(first, last)
      const sign = from <= to ? 1 : -1
      // Adding zero turns -0 into 0, which JSON would do too.
      const signed = (value: number): number => sign * value + 0
      const days = (startOf(last) - startOf(first)) / DAY
      return { days: signed(days), months: signed(months), years: signed(Math.floor(months / 12)) }
    },
  ),
  date_weekday: pure(
    'Says which day of the week a date is; Monday is 1.',
    { date: DATE },
    { weekday: z.enum(WEEKDAYS), number: z.int() },
    ({ date }) => {
      const day = weekday(startOf(date))
      return { weekday: WEEKDAYS[day] ?? 'Monday', number: day + 1 }
    },
  ),
  date_week: pure(
    'Finds the ISO week of a date, and the year to which that week belongs.',
    { date: DATE },
    { year: z.int(), week: z.int() },
    ({ date }) => weekOf(startOf(date)),
  ),
  date_leap_year: pure(
    'Says whether a year is a leap year, and how many days it has.',
    { year: YEAR },
    { leap: z.boolean(), days: z.int() },
    ({ year }) => {
      const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
      return { leap, days: leap ? 366 : 365 }
    },
  ),
  date_month_length: pure(
    'Says how many days a month has.',
    { year: z.int().min(100).max(9999), month: z.int().min(1).max(12) },
    { days: z.int() },
    ({ year, month }) => ({ days: daysInMonth(year, month) }),
  ),
  date_epoch: pure(
    'Turns a time, such as 2026-07-28T12:00:00Z, into seconds since 1970.',
    { time: z.iso.datetime({ offset: true }) },
    { seconds: z.number() },
    ({ time }) => ({ seconds: Date.parse(time) / 1000 }),
  ),
  date_format: pure(
    'Writes a date for people, in English.',
    { date: DATE, style: z.enum(['long', 'medium', 'short']).default('medium') },
    { text: z.string() },
    ({ date, style }) => ({ text: written(startOf(date), style) }),
  ),
  date_easter: pure(
    'Finds Easter Sunday of a year in the Gregorian calendar.',
    { year: z.int().min(1583).max(4099) },
    { date: z.string() },
    ({ year }) => ({ date: easter(year) }),
  ),
}
