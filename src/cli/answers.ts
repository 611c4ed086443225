import type { Readable, Writable } from 'node:stream'
import type { Answers, FormAnswer, FormQuestion } from 'pierhead/client'
import { amountProblem, textProblem, type Field } from './form-field.ts'
import type { Io } from './io.ts'
import { unlessInterrupted } from './interrupted-question.ts'
import type { Output } from './output.ts'
import { safeLine, safeMessage } from './safe-text.ts'
import { isUrl, parseUrl } from '../protocol/url.ts'

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
  return { action: isCancel(agreed) ? 'cancel' : agreed ? 'accept' : 'decline' }
}

/** Asks for every field of a form. Esc closes it without a choice, and No declines it. */
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
  if (isCancel(agreed)) return { action: 'cancel' }
  if (!agreed) return { action: 'decline' }
  const content: Record<string, unknown> = {}
  for (const [name, field] of fields) {
    const value = await askField(name, field, required.includes(name), asking)
    if (isCancel(value)) return { action: 'cancel' }
    if (value !== undefined) content[name] = value
  }
  return { action: 'accept', content }
}

/** The choice to leave a field out. */
const NOTHING: Choice = { value: '', label: 'no answer' }

/** Asks for one field in the way that suits its type. */
async function askField(name: string, field: Field, isRequired: boolean, asking: Asking): Promise<unknown> {
  const { confirm, isCancel, multiselect, select, text } = await import('@clack/prompts')
  const label = safeLine(typeof field.title === 'string' ? field.title : name, 80)
  const about = typeof field.description === 'string' ? ` (${safeLine(field.description, 200)})` : ''
  const choices = choicesOf(field.type === 'array' ? (field.items ?? {}) : field)
  const some =
    choices.count > MOST_CHOICES ? `, only the first ${MOST_CHOICES} of ${choices.count} choices` : ''
  const message = `${label}${about}${isRequired ? '' : ', optional'}${some}`
  if (field.type === 'boolean') {
    if (isRequired) return confirm({ message, initialValue: field.default === true, ...asking })
    const options = [NOTHING, { value: 'yes', label: 'Yes' }, { value: 'no', label: 'No' }]
    const usual = typeof field.default === 'boolean' ? (field.default ? 'yes' : 'no') : ''
    const chosen = await select({ message, options, initialValue: usual, ...asking })
    return isCancel(chosen) ? chosen : chosen === '' ? undefined : chosen === 'yes'
  }
  if (field.type === 'array') {
    const usual: readonly unknown[] = Array.isArray(field.default) ? field.default : []
    // What nobody sees must not be sent.
    const initialValues = choices.list.flatMap(({ value }) => (usual.includes(value) ? [value] : []))
    for (let problem = ''; ;) {
      const chosen = await multiselect({
        message: problem === '' ? message : `${message}. ${problem}`,
        options: [...choices.list],
        initialValues,
        required: isRequired,
        ...asking,
      })
      if (isCancel(chosen)) return chosen
      problem = amountProblem(chosen.length, field) ?? ''
      if (problem === '') return chosen
      // Too few to be an answer, but none is fine too.
      if (chosen.length === 0 && !isRequired) return undefined
    }
  }
  if (choices.list.length > 0) {
    const nothing = isRequired ? [] : [NOTHING]
    const initialValue = choices.list.find(({ value }) => value === field.default)?.value
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
    ...((typeof field.default === 'string' || typeof field.default === 'number') && {
      initialValue: safeLine(`${field.default}`),
    }),
    validate: (value = '') => textProblem(value, field, isRequired),
    ...asking,
  })
  if (isCancel(typed)) return typed
  return typed === undefined || typed === '' ? undefined : isNumber ? Number(typed) : typed
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
