import type { Readable, Writable } from 'node:stream'
import type { Answers, FormAnswer, FormQuestion } from 'pierhead/client'
import type { Io } from './io.ts'
import { unlessInterrupted } from './interrupted-question.ts'
import type { Output } from './output.ts'
import { safeLine, safeMessage } from './safe-text.ts'
import { isUrl, parseUrl } from '../protocol/url.ts'

/** A field of a form, as far as a terminal asks for it. */
interface Field {
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
}

interface Choice {
  readonly value: string
  readonly label: string
}

/** Where and until when a question is asked. */
interface Asking {
  readonly input: Readable
  readonly output: Writable
  readonly signal: AbortSignal
}

/** The largest number of fields that a person is asked for. */
const MOST_FIELDS = 50

/** The largest number of values that a person chooses from, and the longest text of one. */
const MOST_CHOICES = 500
const LONGEST_CHOICE = 100

/** Answers the questions of a server by asking the person at the terminal, one after the other. */
export function terminalAnswers(io: Io, output: Output): Answers {
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    const answer = last.then(() => unlessInterrupted(io, ask))
    last = answer.catch(() => undefined)
    return answer
  }
  const asking = (signal: AbortSignal): Asking => ({
    input: io.stdin as Readable,
    output: io.stderr as unknown as Writable,
    signal: AbortSignal.any([signal, io.signal]),
  })
  return {
    elicit: (question, signal) =>
      inTurn(() => {
        output.status('')
        return askForm(question, asking(signal))
      }),
    elicitUrl: ({ message, url }, signal) =>
      inTurn(() => {
        output.status('')
        return askPage(message, url, output, asking(signal))
      }),
  }
}

/** The longest name of a host in the DNS. */
const LONGEST_HOST = 253
const LONGEST_URL = 2000

/** Asks the person to open a page. The URL is the last that is printed before the question, so that nothing moves it off the screen. */
async function askPage(message: string, url: string, output: Output, asking: Asking): Promise<FormAnswer> {
  const page = isUrl(url) ? parseUrl(url) : undefined
  if (page === undefined || !/^https?:$/.test(page.protocol) || page.hostname.length > LONGEST_HOST) {
    output.warn(`the server asks you to open ${safeLine(url)}, which is not a web page; this was declined`)
    return { action: 'decline' }
  }
  const { confirm, isCancel } = await import('@clack/prompts')
  const user = page.username + page.password === '' ? '' : ' (the name before the @ is not where it leads)'
  output.note(
    [
      safeMessage(message),
      `The server asks you to open a page of ${page.host}${user}:`,
      output.noteColors.cyan(safeLine(page.href, LONGEST_URL)),
    ].join('\n'),
  )
  const agreed = await confirm({ message: 'Will you open it?', initialValue: false, ...asking })
  return { action: !isCancel(agreed) && agreed ? 'accept' : 'decline' }
}

/** Asks for every field of a form. Esc declines it. */
async function askForm({ message, schema }: FormQuestion, asking: Asking): Promise<FormAnswer> {
  const { confirm, isCancel, note } = await import('@clack/prompts')
  note(safeMessage(message), 'The server asks', asking)
  const { properties = {}, required = [] } = schema as {
    readonly properties?: Readonly<Record<string, Field>>
    readonly required?: readonly string[]
  }
  const fields = Object.entries(properties).slice(0, MOST_FIELDS)
  const agreed = await confirm({
    message: fields.length === 0 ? 'Do you agree?' : 'Will you answer?',
    ...asking,
  })
  if (isCancel(agreed) || !agreed) return { action: 'decline' }
  const content: Record<string, unknown> = {}
  for (const [name, field] of fields) {
    const value = await askField(name, field, required.includes(name), asking)
    if (isCancel(value)) return { action: 'decline' }
    if (value !== undefined) content[name] = value
  }
  return { action: 'accept', content }
}

/** Asks for one field in the way that suits its type. */
async function askField(name: string, field: Field, isRequired: boolean, asking: Asking): Promise<unknown> {
  const { confirm, isCancel, multiselect, select, text } = await import('@clack/prompts')
  const label = safeLine(typeof field.title === 'string' ? field.title : name, 80)
  const about = typeof field.description === 'string' ? ` (${safeLine(field.description, 200)})` : ''
  const choices = choicesOf(field.type === 'array' ? (field.items ?? {}) : field)
  const some =
    choices.count > MOST_CHOICES ? `, only the first ${MOST_CHOICES} of ${choices.count} choices` : ''
  const message = `${label}${about}${isRequired ? '' : ', optional'}${some}`
  if (field.type === 'boolean') return confirm({ message, initialValue: field.default === true, ...asking })
  if (field.type === 'array') {
    const initialValues = Array.isArray(field.default) ? field.default.map(String) : []
    return multiselect({
      message,
      options: [...choices.list],
      initialValues,
      required: isRequired,
      ...asking,
    })
  }
  if (choices.list.length > 0) {
    const nothing = isRequired ? [] : [{ value: '', label: 'no answer' }]
    const initialValue = typeof field.default === 'string' ? field.default : undefined
    const chosen = await select({
      message,
      options: [...nothing, ...choices.list],
      ...(initialValue !== undefined && { initialValue }),
      ...asking,
    })
    return chosen === '' ? undefined : chosen
  }
  const isNumber = field.type === 'number' || field.type === 'integer'
  const typed = await text({
    message,
    ...(['string', 'number'].includes(typeof field.default) && {
      initialValue: safeLine(String(field.default)),
    }),
    validate: (value = '') => problemOf(value, field, isRequired),
    ...asking,
  })
  if (isCancel(typed)) return typed
  return typed === undefined || typed === '' ? undefined : isNumber ? Number(typed) : typed
}

function problemOf(
  value: string,
  { type, minimum, maximum }: Field,
  isRequired: boolean,
): string | undefined {
  if (value === '') return isRequired ? 'Please answer this one.' : undefined
  if (type !== 'number' && type !== 'integer') return undefined
  const number = Number(value)
  if (!Number.isFinite(number) || (type === 'integer' && !Number.isInteger(number)))
    return `Please type ${type === 'integer' ? 'a whole number' : 'a number'}.`
  if (typeof minimum === 'number' && number < minimum) return `The least is ${minimum}.`
  if (typeof maximum === 'number' && number > maximum) return `The most is ${maximum}.`
  return undefined
}

/** The first values to choose from, and how many there are. */
interface Choices {
  readonly list: readonly Choice[]
  readonly count: number
}

/** The values to choose from, in each of the forms that revisions have for them. */
function choicesOf(field: Field): Choices {
  const titled: unknown = [field.oneOf, field.anyOf].find((list) => Array.isArray(list))
  const values = (titled ?? field.enum) as readonly unknown[] | undefined
  if (!Array.isArray(values)) return { list: [], count: 0 }
  const names = Array.isArray(field.enumNames) ? (field.enumNames as readonly unknown[]) : []
  const list = values.slice(0, MOST_CHOICES).flatMap((one: unknown, i) => {
    const { const: value, title } = (
      titled === undefined ? { const: one, title: names[i] } : (one ?? {})
    ) as {
      readonly const?: unknown
      readonly title?: unknown
    }
    if (typeof value !== 'string') return []
    return [{ value, label: safeLine(typeof title === 'string' ? title : value, LONGEST_CHOICE) }]
  })
  return { list, count: values.length }
}
