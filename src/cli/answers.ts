import type { Readable, Writable } from 'node:stream'
import type { Answers, FormAnswer, FormQuestion } from 'pierhead/client'
import type { Io } from './io.ts'
import { unlessInterrupted } from './interrupted-question.ts'
import type { Output } from './output.ts'
import { safe, safeLine } from './safe-text.ts'

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
      inTurn(async () => {
        output.status('')
        const { confirm, isCancel } = await import('@clack/prompts')
        output.note(
          `The server asks you to open ${output.noteColors.cyan(safeLine(url, 2000))}\n${safe(message)}`,
        )
        const agreed = await confirm({ message: 'Will you open it?', initialValue: false, ...asking(signal) })
        return { action: !isCancel(agreed) && agreed ? 'accept' : 'decline' }
      }),
  }
}

/** Asks for every field of a form. Esc declines it. */
async function askForm({ message, schema }: FormQuestion, asking: Asking): Promise<FormAnswer> {
  const { confirm, isCancel, note } = await import('@clack/prompts')
  note(safe(message), 'The server asks', asking)
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
  const message = `${label}${about}${isRequired ? '' : ', optional'}`
  const choices = choicesOf(field)
  if (field.type === 'boolean') return confirm({ message, initialValue: field.default === true, ...asking })
  if (field.type === 'array') {
    const initialValues = Array.isArray(field.default) ? field.default.map(String) : []
    return multiselect({
      message,
      options: choicesOf(field.items ?? {}) as Choice[],
      initialValues,
      required: isRequired,
      ...asking,
    })
  }
  if (choices.length > 0) {
    const nothing = isRequired ? [] : [{ value: '', label: 'no answer' }]
    const initialValue = typeof field.default === 'string' ? field.default : undefined
    const chosen = await select({
      message,
      options: [...nothing, ...choices],
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

/** The values to choose from, in each of the forms that revisions have for them. */
function choicesOf(field: Field): readonly Choice[] {
  const titled = [field.oneOf, field.anyOf].find((list) => Array.isArray(list)) as
    | readonly unknown[]
    | undefined
  if (titled !== undefined)
    return titled.flatMap((one) => {
      const { const: value, title } = (one ?? {}) as { readonly const?: unknown; readonly title?: unknown }
      return typeof value === 'string'
        ? [{ value, label: safeLine(typeof title === 'string' ? title : value) }]
        : []
    })
  const { enum: values, enumNames: names } = field
  if (!Array.isArray(values)) return []
  return values.flatMap((value: unknown, i) => {
    const name: unknown = Array.isArray(names) ? names[i] : undefined
    return typeof value === 'string'
      ? [{ value, label: safeLine(typeof name === 'string' ? name : value) }]
      : []
  })
}
