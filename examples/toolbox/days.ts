import { ToolError } from 'pierhead'

export const DAY = 86_400_000

/** The start of a day, in milliseconds since 1970, in UTC. */
export function startOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`)
}

/** The day of a time, such as 2026-07-28. */
export function dayOf(ms: number): string {
  const date = new Date(ms)
  const year = date.getUTCFullYear()
  if (Number.isNaN(year) || year < 0 || year > 9999)
    throw new ToolError('The date is outside the years 0 to 9999.')
  return date.toISOString().slice(0, 10)
}

export function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}

/** Adds months; the 31st becomes the last day of a shorter month. */
export function addMonths(date: string, months: number): string {
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number)
  const total = year * 12 + month - 1 + months
  const [newYear, newMonth] = [Math.floor(total / 12), (total % 12) + 1]
  if (newYear < 0 || newYear > 9999) throw new ToolError('The date is outside the years 0 to 9999.')
  const text = (value: number, digits: number): string => String(value).padStart(digits, '0')
  return `${text(newYear, 4)}-${text(newMonth, 2)}-${text(Math.min(day, daysInMonth(newYear, newMonth)), 2)}`
}

/** Adds an amount of a unit to a date. */
export function addTo(date: string, amount: number, unit: 'days' | 'weeks' | 'months' | 'years'): string {
  if (unit === 'months' || unit === 'years') return addMonths(date, amount * (unit === 'years' ? 12 : 1))
  return dayOf(startOf(date) + amount * DAY * (unit === 'weeks' ? 7 : 1))
}
