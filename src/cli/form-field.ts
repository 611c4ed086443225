import { isUrl } from '../protocol/url.ts'
import { safeLine } from './safe-text.ts'

/** A field of a form of a server, as far as the command looks at it. It comes from the server, so every member may be anything. */
export interface Field {
  readonly type?: unknown
  readonly title?: unknown
  readonly description?: unknown
  readonly default?: unknown
  readonly enum?: unknown
  readonly enumNames?: unknown
  readonly oneOf?: unknown
  readonly items?: Field
  readonly anyOf?: unknown
  readonly minimum?: unknown
  readonly maximum?: unknown
  readonly minLength?: unknown
  readonly maxLength?: unknown
  readonly format?: unknown
  readonly minItems?: unknown
  readonly maxItems?: unknown
}

/** The formats that a form may ask for, and what to type. */
const FORMATS: ReadonlyMap<unknown, { readonly fits: (text: string) => boolean; readonly what: string }> =
  new Map([
    ['email', { fits: (text) => /^[^\s@]+@[^\s@]+$/.test(text), what: 'an e-mail address' }],
    ['uri', { fits: (text) => isUrl(text) && !/\s/.test(text), what: 'a URI, such as https://example.com' }],
    ['date', { fits: (text) => isDate(text), what: 'a date, such as 2026-07-28' }],
    ['date-time', { fits: isDateTime, what: 'a date and time with its zone, such as 2026-07-28T12:30:00Z' }],
  ])

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const date = new Date(`${text}T00:00:00Z`)
  // 30 February would become a day in March.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

function isDateTime(text: string): boolean {
  const [, day = '', time = ''] = /^(\d{4}-\d\d-\d\d)[Tt ](.*)$/.exec(text) ?? []
  const clock = /^(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/
  return isDate(day) && clock.test(time)
}

/** What is wrong with a text that was typed for a field; undefined if nothing is. An empty text is no answer. */
export function textProblem(value: string, field: Field, isRequired: boolean): string | undefined {
  if (value === '') return isRequired ? 'Please answer this one.' : undefined
  if (field.type === 'number' || field.type === 'integer') return numberProblem(value, field)
  const { minLength, maxLength, format } = field
  const { length } = Array.from(value)
  if (typeof minLength === 'number' && length < minLength)
    return `Please type at least ${counted(minLength, 'character')}.`
  if (typeof maxLength === 'number' && length > maxLength)
    return `Please type at most ${counted(maxLength, 'character')}.`
  const known = FORMATS.get(format)
  return known === undefined || known.fits(value) ? undefined : `Please type ${known.what}.`
}

function numberProblem(value: string, { type, minimum, maximum }: Field): string | undefined {
  const number = Number(value)
  if (!Number.isFinite(number) || (type === 'integer' && !Number.isInteger(number)))
    return `Please type ${type === 'integer' ? 'a whole number' : 'a number'}.`
  if (typeof minimum === 'number' && number < minimum) return `The least is ${minimum}.`
  if (typeof maximum === 'number' && number > maximum) return `The most is ${maximum}.`
  return undefined
}

/** What is wrong with the number of values that were chosen for a field; undefined if nothing is. */
export function amountProblem(amount: number, { minItems, maxItems }: Field): string | undefined {
  if (typeof minItems === 'number' && amount < minItems) return `Please choose at least ${minItems}.`
  if (typeof maxItems === 'number' && amount > maxItems) return `Please choose at most ${maxItems}.`
  return undefined
}

/** What is wrong with a value for a field; undefined if nothing is. */
export function valueProblem(value: unknown, field: Field): string | undefined {
  if (Array.isArray(value)) {
    const choices = choiceValues(field.items ?? {})
    const isOther = choices.length > 0 && value.some((one) => !choices.includes(one))
    return isOther ? `It must be some of ${listed(choices)}.` : amountProblem(value.length, field)
  }
  if (field.type === 'boolean' && typeof value !== 'boolean') return 'It must be true or false.'
  const choices = choiceValues(field)
  if (choices.length > 0) return choices.includes(value) ? undefined : `It must be one of ${listed(choices)}.`
  return typeof value === 'string' || typeof value === 'number'
    ? textProblem(String(value), field, true)
    : undefined
}

/** The values to choose from, in each of the forms that revisions have for them; none for a field without choices. */
export function choiceValues({ enum: values, oneOf, anyOf }: Field): readonly unknown[] {
  const titled: unknown = [oneOf, anyOf].find((list) => Array.isArray(list))
  if (!Array.isArray(titled)) return Array.isArray(values) ? (values as readonly unknown[]) : []
  return titled.map((one: unknown) => ((one ?? {}) as { readonly const?: unknown }).const)
}

/** How many choices a message names. */
const MOST_NAMED = 20

function listed(choices: readonly unknown[]): string {
  const named = choices.slice(0, MOST_NAMED).map((one) => safeLine(String(one), 80))
  return [...named, ...(choices.length > MOST_NAMED ? ['…'] : [])].join(', ')
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
